internal import Testing

@testable internal import LinkdCommands

@Suite struct HelpWidthTests {
    @Test(
        "Help is as wide as the terminal, from 60 to 100 columns",
        arguments: [
            (nil, 100), (20, 60), (59, 60), (60, 60), (80, 80), (100, 100), (101, 100), (400, 100),
        ])
    func bounds(columns: Int?, width: Int) {
        #expect(HelpText(style: Style(enabled: false), columns: columns).width == width)
    }

    @Test("Lines of help fit, and words, names, and examples are unbroken", arguments: [60, 80, 100])
    func lines(columns: Int) {
        let narrow = HelpText(style: Style(enabled: false), columns: columns)
        let wide = HelpText(style: Style(enabled: false), columns: nil)
        for command in CommandIndex.all {
            let text = narrow.of(command)
            #expect(words(text) == words(wide.of(command)))
            // A line to copy is not broken.
            let copied = Set(command.examples.map { "  " + $0.key } + command.allFlags.map(label))
            let long = text.split(separator: "\n").filter { line in
                line.count > columns && !copied.contains(String(line)) && words(String(line)).count > 1
            }
            #expect(long == [], "linkd \(command.name)")
        }
        let commands = CommandIndex.all
        let overview = narrow.overview(commands, path: [])
        #expect(words(overview) == words(wide.overview(commands, path: [])))
        #expect(!overview.split(separator: "\n").contains { $0.count > columns })
    }

    @Test("-V prints the versions, as --version does")
    func version() {
        let result = linkd("-V")
        #expect(result.code == 0 && result.out.hasPrefix("linkd \(LinkdVersion.text) (librdkafka "))
        #expect(result.out == linkd("--version").out)
    }

    private func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }

    private func label(_ flag: Flag) -> String {
        "  " + flag.names.joined(separator: ", ") + (flag.valueName.map { " " + $0 } ?? "")
    }
}
