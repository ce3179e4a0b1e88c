internal import RouteTools
internal import LinkCoordinator

/// `linkd routes docs`: a table as a Markdown document.
enum RoutesDocsCommand {
    static let command = Command(
        path: ["routes", "docs"],
        summary: "Write a table as Markdown: every route with its data, conditions and examples",
        discussion: [
            "Routes come in the order of their ids, so a change of a table is a small change of the document. Examples "
                + "are the table's own, resolved again; where none shows a pattern, a link is generated, and said so."
        ],
        operands: OperandDeclaration(name: "TABLE", help: "The table's file.", count: 1...1),
        examples: [
            CommandExample(
                line: "linkd routes docs config/routes/shop.json > ROUTES.md", words: "For a team's documents.")
        ],
        run: { call throws(CommandFailure) in
            call.console.out.write(RoutesDocument.text(try CheckedTable.whole(call.operands[0])))
            return .success
        })
}
