internal import RouteTools

/// `linkd routes docs`: writes a table as a Markdown document.
enum RoutesDocsCommand {
    static let command = Command(
        path: ["routes", "docs"],
        summary: "Write the documentation of a table, in Markdown",
        discussion: [
            "Routes are sorted by their ids, so that a small edit of the table is a small edit of the document. "
                + "Examples are those of the table, resolved again. A pattern without an example gets a generated "
                + "link, marked as such."
        ],
        operands: Operands(name: "TABLE", help: "The file of the table.", count: 1...1),
        examples: [
            "linkd routes docs config/routes/shop.json > ROUTES.md": "A page for a team's documentation."
        ],
        run: { call throws(CommandFailure) in
            call.console.out.write(RoutesDocument.text(try CheckedTable.validTable(at: call.operands[0])))
            return .success
        })
}
