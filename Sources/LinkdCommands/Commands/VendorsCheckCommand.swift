internal import RouteTools
internal import StrictJSON

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
