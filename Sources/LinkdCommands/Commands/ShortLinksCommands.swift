internal import ByteStorage
internal import LinkIngest
internal import RouteTools
internal import ShortLinks
internal import StrictJSON

/// `linkd short-links build`: writes the file of short links from exports.
enum ShortLinksBuildCommand {
    static let command = Command(
        path: ["short-links", "build"],
        summary: "Write the file of short links from exports of link platforms",
        discussion: [
            "Reads CSV files with a column of short links and one of their destinations: exports of Firebase Dynamic "
                + "Links, Branch, and Bitly whose columns are recognized by their names, files with two columns, and "
                + "any file with --columns. The file is for the setting `short.links`. It is written under another "
                + "name and renamed, so a worker that uses it goes on with the old one, and then takes the new one.",
            "A row that is not valid, two destinations for one short link, and a short link that leads back to itself "
                + "are listed with their lines, and end with exit code 65. Nothing is written then.",
        ],
        flags: [
            Flag("--out", .file, "Write the short links to this file, which is replaced if it exists."),
            Flag(
                "--columns", .text(bytes: 3...512), placeholder: "SHORT,LONG",
                "Names of the two columns in the first line of each export, without commas."),
            Flag(
                "--on-conflict", .choice(ShortLinkBuilder.Conflicts.allCases.map(\.rawValue)), default: "refuse",
                "Which row counts if one short link has several destinations."),
            Flag("--skip-bad-rows", "Leave out rows whose links or columns are not valid."),
            Flag("--json", "Print one JSON object."),
        ],
        operands: Operands(
            name: "FILE", help: "Exports as CSV (RFC 4180), in UTF-8. The first line names the columns.",
            count: 1...64),
        examples: [
            "linkd short-links build firebase.csv bitly.csv --out short.links": "Writes one file from two exports.",
            "linkd short-links build links.csv --columns short,target --out short.links":
                "Reads an export with other names of columns.",
        ],
        run: { call throws(CommandFailure) in
            var build = try ShortLinkBuild(call)
            return try build.run()
        })
}

/// `linkd short-links check`: reads the whole file of short links.
enum ShortLinksCheckCommand {
    static let command = Command(
        path: ["short-links", "check"],
        summary: "Check that a file of short links is as it was written",
        discussion: [
            "Reads the whole file, and compares it with the SHA-256 in its header. A damaged file ends with exit code "
                + "65. A worker does the same before it uses a file."
        ],
        flags: [Flag("--json", "Print one JSON object.")],
        operands: Operands(name: "FILE", help: "File of short links.", count: 1...1),
        examples: ["linkd short-links check short.links": "Prints the number of short links, and the file's hash."],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let path = call.operands[0]
        let file = try wholeFile(at: path, call.console)
        let out = call.console.out
        guard !call.json else {
            out.json { json in
                json.text("file", path)
                json.text("hash", file.fullHash)
                json.number("links", Int64(file.count))
                json.number("bytes", Int64(file.byteCount))
                json.texts("hosts", file.hosts)
            }
            return .success
        }
        out.line(
            out.style.paint("ok", .good) + "  \(Counts.grouped(Int64(file.count))) short links of "
                + "\(Counts.text(file.hosts.count, "host"))  \(file.hash.string)  " + Escaping.visible(path))
        return .success
    }

    /// Opens a file, and reads all of it.
    ///
    /// A damaged file ends with exit code 65.
    static func wholeFile(at path: String, _ console: Console) throws(CommandFailure) -> ShortLinkFile {
        let file = try ShortLinkFile.open(path)
        var progress = ProgressLine(console)
        let isWhole = file.verify { read in
            progress.show("reading \(Escaping.visible(path)): \(read * 100 / max(file.byteCount, 1))%")
            return true
        }
        progress.clear()
        guard isWhole else {
            throw CommandFailure(
                .badData, "\(Escaping.visible(path)) is damaged",
                advice: "build it again with `linkd short-links build`")
        }
        return file
    }
}

/// `linkd short-links look`: prints the destination of a short link.
enum ShortLinksLookCommand {
    static let command = Command(
        path: ["short-links", "look"],
        summary: "Print the destinations of short links",
        discussion: [
            "Looks up links as a worker does: the whole link, else without its fragment, else also without its query. "
                + "A link that the file does not have ends with exit code 1, and a damaged file, which is read to its "
                + "end first, with 65."
        ],
        flags: [
            Flag("--file", .file, "File of short links."),
            Flag("--json", "Print one JSON object for each link."),
        ],
        operands: Operands(
            name: "LINK", help: "Short links. With several, a line is the link, a tab, and its destination.",
            count: 1...64),
        examples: ["linkd short-links look --file short.links https://go.example/abc": "Prints its destination."],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        guard let path = call.text("file") else {
            throw CommandFailure(.usage, "no file is specified", advice: "pass --file FILE with the short links")
        }
        let file = try ShortLinksCheckCommand.wholeFile(at: path, call.console)
        var missing = 0
        for link in call.operands {
            // Exports also have links without a scheme, which is not a part of a short link.
            let whole = link.prefix { !"/?#".contains($0) }.hasSuffix(":") ? link : "https://" + link
            let found = Array(whole.utf8).withUnsafeBufferPointer { bytes in
                file.answer(to: ByteView(bytes)).map { ($0.link.string, $0.destination.string) }
            }
            if found == nil {
                missing += 1
                if call.operands.count > 1 { call.console.warn("unknown: \(Escaping.visible(link))") }
            }
            if call.json {
                call.console.out.json { json in
                    json.text("link", link)
                    guard let found else { return json.boolean("known", false) }
                    json.boolean("known", true)
                    json.text("entry", found.0)
                    json.text("destination", found.1)
                    json.text("file", file.hash.string)
                }
            } else if let found {
                let start = call.operands.count > 1 ? Escaping.visible(link) + "\t" : ""
                call.console.out.line(start + Escaping.visible(found.1))
            }
        }
        guard missing > 0 else { return .success }
        throw CommandFailure(
            .finding, "\(Escaping.visible(path)) does not have \(Counts.text(missing, "link"))",
            advice: "check the links, or build the file from newer exports")
    }
}
