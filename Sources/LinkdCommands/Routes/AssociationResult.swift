internal import RouteTools
internal import LinkCoordinator
internal import StrictJSON

/// The association files of `routes check`: their problems, and their comparison with a table.
struct AssociationResult {
    /// A file with its problems.
    private struct File {
        var kind: AssociationCheck.File
        var path: String
        var problems: [AssociationProblem] = []
    }

    private var files: [File] = []
    private var reports: [AssociationCheck.Report] = []
    /// A note about files that cannot be compared, or nil.
    private(set) var note: String?

    /// The flags that name the files, in the order of the result.
    private static let kinds: [AssociationCheck.File] = [.aasa, .manifest, .assetlinks]

    /// Returns the number of findings that are not printed.
    private static func omitted(_ report: AssociationCheck.Report) -> Int {
        max(0, report.findings.count - AssociationLimits.maxFindings)
    }

    /// Returns a Boolean value that indicates whether the command line names association files.
    static func isWanted(_ call: Invocation) -> Bool { kinds.contains { call.text($0.rawValue) != nil } }

    /// Throws a failure for a value of `--host` with which a table has no links.
    static func check(_ hosts: [String], _ table: RouteTable) throws(CommandFailure) {
        guard let host = hosts.first(where: { !AssociationCheck.isHost($0, of: table) }) else { return }
        throw CommandFailure(
            .usage,
            "--host: table \(Escaping.visible(table.id)) has no https links with the host " + Escaping.visible(host),
            advice: "specify a host in the `link` of the table")
    }

    /// Reads the files that the command line names, and compares them with a table.
    ///
    /// A file that cannot be read ends with exit code 78.
    init(_ call: Invocation, _ table: RouteTable, allowed: Set<AssociationProblem.Code>) throws(CommandFailure) {
        let (hosts, apps) = (call.list("host"), call.list("app-id"))
        try Self.check(hosts, table)
        var apple: AppleFile?
        var manifest: ManifestFile?
        var assetLinks: AssetLinksFile?
        for kind in Self.kinds {
            guard let path = call.text(kind.rawValue) else { continue }
            var file = File(kind: kind, path: path)
            let bytes = try Platform.required(
                path, limit: AssociationCheck.maxBytes, as: "association file \(Escaping.visible(path))")
            do throws(AssociationProblem) {
                switch kind {
                case .aasa:
                    let read = try AppleFile(bytes, apps: apps)
                    (apple, file.problems) = (read, read.problems)
                case .manifest:
                    let read = try ManifestFile(bytes)
                    (manifest, file.problems) = (read, read.problems)
                case .assetlinks:
                    let read = try AssetLinksFile(bytes, apps: apps)
                    (assetLinks, file.problems) = (read, read.problems)
                }
            } catch {
                file.problems = [error]
            }
            files.append(file)
        }
        var check = AssociationCheck(table, apple: apple, manifest: manifest, assetLinks: assetLinks, hosts: hosts)
        if let index = files.firstIndex(where: { $0.kind == .assetlinks }) {
            files[index].problems += check.fileProblems
            if assetLinks?.hasRules == false, manifest == nil {
                note = "\(files[index].path) has no paths, so no route is compared with it: pass --manifest too"
            }
        }
        reports = check.run()
        for index in files.indices {
            files[index].problems.removeAll { $0.severity == .warning && allowed.contains($0.code) }
        }
        for index in reports.indices { reports[index].findings.removeAll { allowed.contains($0.code) } }
    }

    /// The number of warnings.
    var warnings: Int {
        files.reduce(0) { $0 + $1.problems.count { $0.severity == .warning } }
            + reports.reduce(0) { $0 + $1.findings.count }
    }

    /// The path of the first file with an error, or nil.
    var refused: String? { files.first { $0.problems.contains { $0.severity == .error } }?.path }

    // MARK: Text

    /// Prints the problems and the results.
    func print(on out: Channel) {
        for file in files {
            let path = Escaping.visible(file.path)
            for problem in file.problems {
                let place = problem.line > 0 ? "\(path):\(problem.line):\(problem.column)" : path
                let message = Escaping.visible(problem.message)
                let line = "\(place): \(problem.severity.rawValue): \(message) [\(problem.code.rawValue)]"
                out.line(out.style.paint(line, problem.severity == .error ? .bad : .warning))
                if let pointer = problem.pointer, !pointer.isEmpty { out.line("    at \(Escaping.visible(pointer))") }
            }
        }
        for report in reports {
            for finding in report.findings.prefix(AssociationLimits.maxFindings) { print(finding, on: out) }
            if Self.omitted(report) > 0 {
                out.line("... and \(Counts.text(Self.omitted(report), "more warning")) for \(report.system.name)")
            }
            let proof = report.isProved ? "proved" : "not proved for all links"
            let isComplete = report.findings.isEmpty && report.isProved
            out.line(
                out.style.paint(isComplete ? "ok" : "--", isComplete ? .good : .warning)
                    + "  \(report.system.name)  \(report.handed) of \(Counts.text(report.routes, "route")) handed "
                    + "over, " + (report.partly > 0 ? "\(report.partly) of them partly, " : "")
                    + "\(Counts.text(report.parts, "part")) of the files compared, \(proof)")
        }
    }

    private func print(_ finding: AssociationCheck.Finding, on out: Channel) {
        let path = files.first { $0.kind == finding.file }.map { Escaping.visible($0.path) }
        let place = path.map { finding.line > 0 ? "\($0):\(finding.line):\(finding.column): " : "\($0): " } ?? ""
        let message = Escaping.visible(finding.message)
        out.line(out.style.paint("\(place)warning: \(message) [\(finding.code.rawValue)]", .warning))
        if let pointer = finding.pointer { out.line("    at \(Escaping.visible(pointer))") }
        if let link = finding.link { out.line("    link: \(Escaping.visible(link))") }
    }

    // MARK: JSON

    /// Writes the member `associations`.
    func write(to json: inout JSONText) {
        json.beginObject("associations")
        json.objects("files", of: files) { json, file in
            json.text("kind", file.kind.rawValue)
            json.text("file", file.path)
            json.boolean("ok", !file.problems.contains { $0.severity == .error })
            json.objects("problems", of: file.problems) { json, problem in
                json.text("severity", problem.severity.rawValue)
                json.text("code", problem.code.rawValue)
                json.text("message", problem.message)
                json.number("line", Int64(problem.line))
                json.number("column", Int64(problem.column))
                if let pointer = problem.pointer { json.text("pointer", pointer) }
            }
        }
        json.objects("systems", of: reports) { json, report in
            json.text("system", report.system.rawValue)
            json.number("routes", Int64(report.routes))
            json.number("handed", Int64(report.handed))
            json.number("partly", Int64(report.partly))
            json.number("parts", Int64(report.parts))
            json.boolean("proved", report.isProved)
            let findings = report.findings.prefix(AssociationLimits.maxFindings)
            json.objects("findings", of: findings) { json, finding in write(finding, to: &json) }
            json.number("omitted", Int64(Self.omitted(report)))
        }
        json.endObject()
    }

    private func write(_ finding: AssociationCheck.Finding, to json: inout JSONText) {
        json.text("severity", "warning")
        json.text("code", finding.code.rawValue)
        json.text("message", finding.message)
        json.text("link", finding.link)
        json.boolean("proved", finding.isProved)
        if let route = finding.route { json.text("route", route) }
        if let file = finding.file {
            json.text("file", files.first { $0.kind == file }?.path)
            json.number("line", Int64(finding.line))
            json.number("column", Int64(finding.column))
        }
        if let pointer = finding.pointer { json.text("pointer", pointer) }
    }
}
