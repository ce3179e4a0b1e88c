internal import Foundation
internal import TestSupport
internal import Testing

/// A wrong input, with the text that says what to do, and a text that misled people.
private struct WrongInput: CustomTestStringConvertible, Sendable {
    /// The command line, in which `FILE` is the path of the file.
    var words: [String]
    /// The contents of the file.
    var file: [UInt8] = []
    var environment: [String: String] = [:]
    var wanted: String
    var unwanted: String

    var testDescription: String { wanted }

    /// The table `shop` with another text.
    static func shop(_ old: String, _ new: String) -> [UInt8] {
        let path = Checkout.root.appending(path: "config/routes/shop.json").path
        let text = try? String(contentsOfFile: path, encoding: .utf8)
        return Array((text ?? "").replacing(old, with: new).utf8)
    }

    static let all: [WrongInput] = [
        WrongInput(
            words: ["produce", "--dry-run", "FILE"], file: Array(String(repeating: "{\n", count: 53).utf8),
            wanted: "with --dry-run --rejects FILE writes them to a file", unwanted: "20 of 53"),
        WrongInput(
            words: ["produce", "--dry-run", "FILE"], file: [0xFF, 0xFE, 0x7B, 0, 0x7D, 0],
            wanted: "iconv -f UTF-16 -t UTF-8", unwanted: "schema id"),
        WrongInput(
            words: ["inspect", "-b", "127.0.0.1:1", "--offset", "x"], wanted: "such as 0:1200",
            unwanted: "texts of 3..31 bytes"),
        WrongInput(
            words: ["dlq", "list", "-b", "127.0.0.1:1", "--offset", "x"], wanted: "such as 0:1200",
            unwanted: "texts of"),
        WrongInput(
            words: ["dlq", "replay", "-b", "127.0.0.1:1", "--offsets", "x"], wanted: "such as 0:1200-1300",
            unwanted: "texts of"),
        WrongInput(
            words: ["topics", "delete"],
            wanted: "the commands that exist: `linkd topics create`, `linkd topics check`",
            unwanted: "use `linkd topics create`"),
        WrongInput(
            words: ["routes", "init"],
            wanted: "the commands that exist: `linkd routes new`, `linkd routes import`, `linkd routes check`",
            unwanted: "use `linkd routes list`"),
        WrongInput(
            words: ["routes", "check", "FILE"], file: shop(#""path.order" }"#, #""reviews" }"#),
            wanted: #"write `path.reviews` for a capture, `query.reviews` for a value of the query, or "#
                + #"`{"const": "reviews"}`"#, unwanted: "write `path.reviews`\n"),
        WrongInput(
            words: ["resolve", #"{"link":"shop:///p/new","device":{"id":"#],
            wanted: "the text ends inside a value at /device/id", unwanted: "value at \n"),
        WrongInput(
            words: ["config"], environment: ["LINKD_PORT": "tcp://10.0.0.1:8080"],
            wanted: "`enableServiceLinks: false`", unwanted: "LINKD_REPORT"),
    ]
}

@Suite struct MessageTextTests {
    @Test("A text about a wrong input says what to do", arguments: WrongInput.all)
    private func text(input: WrongInput) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "linkd-\(UUID().uuidString).json")
        try Data(input.file).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let environment = ["LINKD_HOME": Checkout.root.path + "/config"].merging(input.environment) { $1 }
        let result = linkd(input.words.map { $0 == "FILE" ? url.path : $0 }, environment: environment)
        let text = result.out + result.err
        #expect(result.code != 0)
        #expect(text.contains(input.wanted), "\(text)")
        #expect(!text.contains(input.unwanted), "\(text)")
    }
}
