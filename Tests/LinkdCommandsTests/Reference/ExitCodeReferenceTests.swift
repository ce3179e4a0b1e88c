internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// The exit codes in the documentation of the commands against the code.
@Suite struct ExitCodeReferenceTests {
    @Test("The documentation of the commands has every exit code")
    func codes() throws {
        let page = try ReferencePage(path: "Sources/LinkdCommands/Documentation.docc/LinkdCommands.md")
        let table = try #require(page.table("Exit codes", "Code"))
        let found = table.column("Code").flatMap { $0.split(separator: ", ") }.compactMap { Int32($0) }
        let unknown = ExitCode(rawValue: 255).name
        #expect(found == (0...255).filter { ExitCode(rawValue: $0).name != unknown })
    }
}
