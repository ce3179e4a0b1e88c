internal import ByteStorage
internal import LinkIngest
internal import RouteTools
internal import StrictJSON

/// `linkd vendors list`: prints the vendors and the link platforms.
enum VendorsListCommand {
    static let command = Command(
        path: ["vendors", "list"],
        summary: "List the vendors and the link platforms",
        discussion: [
            "Vendors are listed in the order of their precedence, with the surfaces that are read (the messages of "
                + "apple, android, and web devices, and whole records), and the kinds of envelopes of whole records. "
                + "`--json` adds the sources from which each row was made, and its remark. A row with the id of a "
                + "row in a later file is replaced by it, and the list names that file."
        ],
        flags: [Flag("--json", "Print one JSON object.")],
        settings: .vendors,
        operands: .vendors,
        examples: [
            "linkd vendors list": "The files that come with linkd.",
            "linkd vendors list my-vendors.json --json": "One table, as JSON.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        var files: [CheckedVendors] = []
        for path in try LoadedVendors.paths(call) {
            let checked = try CheckedVendors(path: path)
            if checked.isRefused { throw LoadedVendors.refusal(checked, advice: "see") }
            files.append(checked)
        }
        if call.json { printJSON(files, call.console.out) } else { printText(files, call.console.out) }
        return .success
    }

    private static func printText(_ files: [CheckedVendors], _ out: Channel) {
        for (index, checked) in files.enumerated() {
            if index > 0 { out.line() }
            let later = files[(index + 1)...]
            let file = out.style.paint(Escaping.visible(checked.path), .dim)
            out.line(out.style.heading(checked.rowsText) + "  " + file)
            var table: TextTable
            switch checked.rules {
            case .vendors(let vendors):
                let rows = vendors?.vendors ?? []
                let replacements = rows.map { replacement($0, in: later) }
                let isAnyReplaced = replacements.contains { $0 != nil }
                table = TextTable(
                    [("ID", .left), ("NAME", .left), ("SURFACES", .left), ("ENVELOPES", .left)]
                        + (isAnyReplaced ? [("REPLACED BY", .left)] : []))
                for (vendor, file) in zip(rows, replacements) {
                    let last = isAnyReplaced ? [Escaping.visible(file ?? "")] : []
                    table.add(cells(vendor) + last, [.name])
                }
            case .platforms:
                table = TextTable([("ID", .left), ("NAME", .left), ("HOSTS", .left)])
                for row in checked.rows { table.add(cells(platform: row), [.name]) }
            }
            out.table(table)
        }
    }

    /// Returns the path of the last file that has a row with a vendor's id, or nil if none has.
    private static func replacement(_ vendor: VendorRow, in later: ArraySlice<CheckedVendors>) -> String? {
        later.last { checked in
            guard case .vendors(let table) = checked.rules else { return false }
            return table?.vendors.contains { $0.id == vendor.id } ?? false
        }?.path
    }

    private static func cells(_ vendor: VendorRow) -> [String] {
        [vendor.id, Escaping.visible(vendor.name)]
            + [vendor.surfaces.names, vendor.envelopes].map { $0.joined(separator: ", ") }
    }

    private static func cells(platform: JSONValue) -> [String] {
        let hosts = hosts(platform)
        let shown = hosts.prefix(4).joined(separator: ", ") + (hosts.count > 4 ? ", …" : "")
        return [platform["id"]?.string ?? ""] + [platform["name"]?.string ?? "", shown].map(Escaping.visible)
    }

    /// Returns the hosts of a platform's links, each once.
    private static func hosts(_ platform: JSONValue) -> [String] {
        (platform["rules"]?.array ?? []).flatMap { $0["hosts"]?.array?.compactMap(\.string) ?? [] }.unique
    }

    private static func printJSON(_ files: [CheckedVendors], _ out: Channel) {
        out.json { json in
            json.beginArray("vendors")
            for (index, checked) in files.enumerated() {
                guard case .vendors(let table) = checked.rules else { continue }
                for vendor in table?.vendors ?? [] {
                    json.beginObject()
                    json.text("id", vendor.id)
                    json.text("name", vendor.name)
                    json.texts("surfaces", vendor.surfaces.names)
                    json.texts("envelopes", vendor.envelopes)
                    json.texts("sources", vendor.sources)
                    if let remark = vendor.remark { json.text("remark", remark) }
                    json.text("file", checked.path)
                    if let path = replacement(vendor, in: files[(index + 1)...]) { json.text("replacedBy", path) }
                    json.endObject()
                }
            }
            json.endArray()
            json.beginArray("platforms")
            for checked in files {
                guard case .platforms = checked.rules else { continue }
                for row in checked.rows {
                    json.beginObject()
                    json.text("id", row["id"]?.string)
                    json.text("name", row["name"]?.string)
                    json.texts("hosts", hosts(row))
                    json.texts("sources", row["sources"]?.array?.compactMap(\.string) ?? [])
                    json.text("file", checked.path)
                    json.endObject()
                }
            }
            json.endArray()
        }
    }
}

/// `linkd vendors check`: reports the problems of vendor tables.
enum VendorsCheckCommand {
    static let command = Command(
        path: ["vendors", "check"],
        summary: "Check vendor tables and run their examples",
        discussion: [
            "A vendor table describes how the push messages of vendors are recognized and where their links are. A "
                + "file of link platforms describes how a link is taken out of another one. Prints every problem with "
                + "its location, its code, and the expected value, and each example with another result. A file that "
                + "a worker would refuse ends with exit code 65."
        ],
        flags: [Flag("--json", "Print one JSON object.")],
        settings: .vendors,
        operands: .vendors,
        examples: [
            "linkd vendors check": "The files that come with linkd.",
            "linkd vendors check my-vendors.json --json": "The result as JSON, for an editor or a build.",
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        var checked: [CheckedVendors] = []
        for path in try LoadedVendors.paths(call) { checked.append(try CheckedVendors(path: path)) }
        if call.json { printJSON(checked, call.console.out) } else { printText(checked, call.console.out) }
        let refused = checked.filter(\.isRefused)
        guard let first = refused.first else { return .success }
        if refused.count == 1 {
            throw CommandFailure(
                .badData,
                "\(Escaping.visible(first.path)) is refused: \(Counts.text(first.problems.count, "problem"))",
                advice: "fix the problems listed above")
        }
        throw CommandFailure(
            .badData, "\(refused.count) files are refused, the first is \(Escaping.visible(first.path))",
            advice: "fix the problems listed above")
    }

    private static func printText(_ files: [CheckedVendors], _ out: Channel) {
        for checked in files {
            let file = Escaping.visible(checked.path)
            for problem in checked.problems {
                let lines = problem.lines(file: checked.path)
                out.line(out.style.paint(lines.first ?? "", .bad))
                for line in lines.dropFirst() { out.line(line) }
            }
            guard !checked.isRefused else { continue }
            out.line(
                out.style.paint("ok", .good) + "  \(checked.rowsText), "
                    + "\(Counts.text(checked.examples, "example")) passed  " + out.style.paint(file, .dim))
        }
    }

    private static func printJSON(_ files: [CheckedVendors], _ out: Channel) {
        out.json { json in
            json.objects("files", of: files) { json, checked in
                json.text("file", checked.path)
                json.boolean("ok", !checked.isRefused)
                switch checked.rules {
                case .vendors: json.number("vendors", Int64(checked.rows.count))
                case .platforms: json.number("platforms", Int64(checked.rows.count))
                }
                json.number("examples", Int64(checked.examples))
                json.objects("problems", of: checked.problems) { json, problem in
                    json.text("code", problem.code)
                    json.text("message", problem.message)
                    json.number("line", Int64(problem.location.line))
                    json.number("column", Int64(problem.location.column))
                    json.text("pointer", problem.location.pointer)
                    json.text("suggestion", problem.suggestion)
                }
            }
        }
    }
}
