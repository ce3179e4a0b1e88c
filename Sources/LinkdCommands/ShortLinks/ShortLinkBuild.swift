internal import ByteStorage
internal import LinkIngest
internal import RouteTools
internal import ShortLinks
internal import StrictJSON

/// A run of `linkd short-links build`: reads exports, and writes the file of short links.
struct ShortLinkBuild {
    private let call: Invocation
    private let output: String
    private let skipsRows: Bool
    private let columns: (short: String, long: String)?
    private var progress: ProgressLine
    /// The problems of rows, at most `ShortLinkBuilder.maxProblems`, and their number.
    private var problems: [(file: Int, problem: ShortLinkExport.Problem)] = []
    private var problemCount = 0
    private var skipped = 0
    private var forms: [String] = []

    init(_ call: Invocation) throws(CommandFailure) {
        self.call = call
        guard let output = call.text("out") else {
            throw CommandFailure(.usage, "no file is specified", advice: "pass --out FILE for the file to write")
        }
        self.output = output
        skipsRows = call.isOn("skip-bad-rows")
        progress = ProgressLine(call.console)
        let names = (call.text("columns") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        guard names.count == 2 || call.text("columns") == nil else {
            throw CommandFailure(
                .usage, "--columns has \(Counts.text(names.count, "name"))", advice: "pass --columns SHORT,LONG")
        }
        columns = names.count == 2 ? (String(names[0]), String(names[1])) : nil
    }

    mutating func run() throws(CommandFailure) -> ExitCode {
        if let replaced = FileStamp(of: output),
            call.operands.contains(where: { FileStamp(of: $0)?.isSameFile(as: replaced) == true })
        {
            throw CommandFailure(
                .usage, "\(Escaping.visible(output)) is one of the exports, which the new file would replace",
                advice: "pass --out with another path")
        }
        let target: String
        do throws(SystemError) {
            target = try Platform.replaceable(output).get()
        } catch {
            throw CommandFailure(
                .configuration, "\(Escaping.visible(output)) cannot be written: \(error.text)",
                advice: "pass --out with another path")
        }
        let conflicts = call.text("on-conflict").flatMap(ShortLinkBuilder.Conflicts.init) ?? .refuse
        let began = Platform.monotonicSeconds
        let builder: ShortLinkBuilder
        do throws(ShortLinkError) {
            builder = try ShortLinkBuilder(path: target, conflicts: conflicts)
        } catch {
            throw CommandFailure(error)
        }
        for (number, path) in call.operands.enumerated() { try read(path, number, into: builder) }
        var line = progress
        let written: ShortLinkBuilder.Result?
        do throws(ShortLinkError) {
            // Without a file, its rows are still compared, so that all problems are reported at once.
            written = try builder.finish(
                isPublished: problemCount == 0 && builder.rows > 0, answer: { file, link in file.answer(to: link) },
                progress: { part in
                    line.show("writing \(Escaping.visible(output)): \(part * 100 / 256)%")
                    return true
                })
        } catch {
            throw CommandFailure(error)
        }
        line.clear()
        guard let written else { return .interrupted }
        report(written)
        let all = problemCount + written.problemCount
        guard all == 0 else {
            throw CommandFailure(
                .badData, "\(Escaping.visible(output)) is not written: \(Counts.text(all, "problem"))",
                advice: "correct the rows listed above, or see --on-conflict and --skip-bad-rows")
        }
        guard builder.rows > 0 else {
            throw CommandFailure(
                .badData,
                "\(Escaping.visible(output)) is not written: the exports have no short link"
                    + (skipped > 0 ? ", apart from \(Counts.text(skipped, "row")) with a problem" : ""),
                advice: skipped > 0 ? "run it without --skip-bad-rows, which lists the problems" : "export it again")
        }
        try printResult(written, seconds: Platform.monotonicSeconds - began)
        return .success
    }

    private mutating func read(_ path: String, _ number: Int, into builder: ShortLinkBuilder) throws(CommandFailure) {
        var export = try ShortLinkExport(path: path, columns: columns)
        forms.append(export.form)
        var rows = 0
        while let row = try export.next() {
            rows += 1
            if rows & 0xFFF == 0 {
                progress.show(
                    "reading \(Escaping.visible(path)): \(Counts.grouped(Int64(rows))) rows, "
                        + "\(Counts.grouped(export.consumed)) bytes")
            }
            switch row {
            case .problem(let problem): add(problem, number, canSkip: problem.code != "bad_csv")
            case .link(let short, let long, let line): try add(short, long, number, line, to: builder)
            }
        }
        progress.clear()
    }

    private mutating func add(
        _ short: [UInt8], _ long: [UInt8], _ file: Int, _ line: Int, to builder: ShortLinkBuilder
    ) throws(CommandFailure) {
        let place = ShortLinkBuilder.Place(file: file, line: line)
        do {
            let isAdded = try ShortLinkExport.row(short, long) { row throws(ShortLinkError) in
                try builder.add(host: row.host, tail: row.tail, destination: row.destination, at: place)
            }
            guard isAdded else {
                throw CommandFailure(
                    .badData, "\(self.place(place)) is beyond the limit of rows or of hosts",
                    advice: "build several files, at most one for each worker")
            }
        } catch let fault as ShortLinkRow.Fault {
            add(ShortLinkExport.Problem(code: fault.rawValue, line: line, text: fault.text), file, canSkip: true)
        } catch let error as ShortLinkError {
            throw CommandFailure(error)
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.internalError, "\(error)", advice: "report this bug")
        }
    }

    private mutating func add(_ problem: ShortLinkExport.Problem, _ file: Int, canSkip: Bool) {
        if canSkip && skipsRows {
            skipped += 1
            return
        }
        problemCount += 1
        if problems.count < ShortLinkBuilder.maxProblems { problems.append((file, problem)) }
    }

    // MARK: Output

    private func place(_ place: ShortLinkBuilder.Place) -> String {
        "\(Escaping.visible(call.operands[place.file])):\(place.line)"
    }

    private func report(_ written: ShortLinkBuilder.Result) {
        let console = call.console
        for (file, problem) in problems {
            let place = place(ShortLinkBuilder.Place(file: file, line: problem.line))
            console.warn("\(place): error: \(problem.text) [\(problem.code)]")
        }
        let found = written.problems.sorted {
            $0.places.suffix(1).lexicographicallyPrecedes($1.places.suffix(1))
        }
        for problem in found {
            let link = Escaping.visible(problem.link)
            let text =
                switch problem.kind {
                case .conflict: "\(link) has another destination than in \(problem.places.first.map(place) ?? "")"
                case .loop: "the destination of \(link) leads back to it, or into a loop"
                case .chain: "\(link) leads through more than \(ShortLinkBuilder.maxChain) short links"
                }
            console.warn("\(problem.places.last.map(place) ?? ""): error: \(text) [\(problem.kind.rawValue)]")
        }
        let more = problemCount + written.problemCount - problems.count - written.problems.count
        if more > 0 { console.warn("and \(Counts.text(more, "more problem"))") }
    }

    private func printResult(_ written: ShortLinkBuilder.Result, seconds: Double) throws(CommandFailure) {
        let file = try ShortLinkFile.open(output)
        if call.json {
            call.console.out.json { json in
                json.text("file", output)
                json.text("hash", file.fullHash)
                json.number("links", Int64(written.links))
                json.number("duplicates", Int64(written.duplicates))
                json.number("dropped", Int64(written.dropped))
                json.number("chained", Int64(written.chained))
                json.number("skipped", Int64(skipped))
                json.number("bytes", Int64(file.byteCount))
                json.texts("formats", forms)
            }
            return
        }
        let counts = [
            (written.duplicates, "repeated"), (written.dropped, "dropped as a conflict"),
            (written.chained, "through another short link"), (skipped, "skipped"),
        ].filter { $0.0 > 0 }.map { "\(Counts.grouped(Int64($0.0))) \($0.1)" }
        let out = call.console.out
        out.line(
            out.style.paint("ok", .good) + "  " + Counts.text(Int(written.links), "short link")
                + (counts.isEmpty ? "" : " (\(counts.joined(separator: ", ")))") + "  \(file.hash.string)  "
                + Escaping.visible(output))
        call.console.note("\(Counts.grouped(Int64(file.byteCount))) bytes in \(Int(seconds.rounded(.up))) s")
    }
}
