import Foundation
import TestSupport

extension MarkdownText {
    /// Returns the text of a file of the checkout.
    init(file: String) throws {
        self.init(try String(contentsOf: Checkout.root.appending(path: file), encoding: .utf8))
    }
}

extension MarkdownText.Block {
    /// The block as a script of bash, in which `config/run` is the program that was built with the tests.
    var script: String { lines.joined(separator: "\n").replacing("config/run ", with: "\"$LINKD_TEST_PROGRAM\" ") }

    /// Runs the block in the checkout.
    func run(_ environment: [String: String] = [:]) throws -> ChildProcess.Result {
        try Self.run(script, environment)
    }

    /// Runs a script in the checkout.
    static func run(_ script: String, _ environment: [String: String]) throws -> ChildProcess.Result {
        try ChildProcess.run(
            ["bash", "-euc", script], in: Checkout.root,
            environment: environment.merging(["LINKD_TEST_PROGRAM": BuiltProgram.linkd], uniquingKeysWith: { $1 }))
    }
}
