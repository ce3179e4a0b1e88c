internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

/// `linkd routes explain`: explains the decisions of one table about links.
enum RoutesExplainCommand {
    static let command = Command(
        path: ["routes", "explain"],
        summary: "Explain the decisions of one table about links",
        discussion: [
            "Explains each phase, pattern, and variant in the same words as `linkd resolve --explain`, which also "
                + "accepts events and selects the table. `--json` prints one decision per line, with the trace as its "
                + "last member, `explain`."
        ],
        flags: [
            FlagDeclaration(
                "--device", type: .text(bytes: 2...65536), placeholder: "JSON", "Facts about the device."),
            FlagDeclaration("--json", type: .boolean, "Print one JSON object per link."),
        ],
        operands: OperandDeclaration(name: "TABLE LINK", help: "The file of the table, then links.", count: 2...10_000),
        examples: [
            CommandExample(
                line: "linkd routes explain config/routes/shop.json 'https://shop.example/o/12'",
                description: "The decision about this link, phase by phase."),
            CommandExample(
                line: "linkd routes explain config/routes/shop.json --device '{\"app\":\"3.9.0\"}' shop:///p/new",
                description: "For a device with an older app."),
        ],
        run: run)

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        let device = try DeviceFlag.device(call.text("device"))
        let table = try CheckedTable.explainableTable(at: call.operands[0], on: call.console)
        let out = call.console.out
        for (index, link) in call.operands.dropFirst().enumerated() {
            let explanation = table.explain(.link(link), device: device)
            if call.json {
                let line = String(decoding: explanation.decisionJSON, as: UTF8.self)
                out.line(out.isTerminal ? Escaping.json(line) : line)
                continue
            }
            if index > 0 { out.line() }
            out.line(out.style.name(Escaping.visible(DisplayWidth.cut(link, to: 200))))
            for line in explanation.text.split(separator: "\n") { out.line("  " + Escaping.visible(String(line))) }
        }
        return .success
    }
}
