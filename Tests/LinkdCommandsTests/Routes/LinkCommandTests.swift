internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// `linkd link`.
@Suite struct LinkCommandTests {
    private static let shop = Checkout.root.appending(path: "config/routes/shop.json").path
    private static let device = #"{"app":"6.1.0","claims":["session"]}"#

    private func link(_ arguments: String...) -> CommandResult {
        linkd(["link", "--table", Self.shop, "--device", Self.device] + arguments)
    }

    @Test("The link of a screen is printed, and resolves to it")
    func prints() throws {
        let result = link("account/order", "--data", #"{"OrderRef":{"order":12}}"#, "--host", "shop.example")
        #expect(result.code == 0 && result.out == "https://shop.example/orders/12\n", "\(result)")
        let resolved = linkd(
            "resolve", "--table", Self.shop, "--device", Self.device, "--json", result.out.trimmingLineEnd)
        #expect(
            try JSONValue.parse(Array(resolved.out.utf8))["path"]?.string?.hasSuffix("/account/profile/order") == true)
        let json = link("--route", "new-items", "--json")
        let object = try JSONValue.parse(Array(json.out.utf8))
        #expect(object["route"]?.string == "new-items" && object["decision"]?["outcome"]?.string == "navigate")
    }

    @Test("--qr writes an image, and replaces a file only with --force")
    func image() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("new.svg")
        #expect(link("catalog/list", "--qr", file).code == 0)
        let svg = try String(contentsOfFile: file, encoding: .utf8)
        #expect(svg.hasPrefix("<svg") && svg.hasSuffix("</svg>\n"))
        let refused = link("catalog/list", "--qr", file)
        #expect(refused.code == 64 && refused.err.contains("--force") && refused.out.isEmpty)
        #expect(link("catalog/list", "--qr", file, "--force").code == 0)
        #expect(link("catalog/list", "--qr", "/no/such/new.svg").code == 78)
        try Data().write(to: URL(filePath: folder.path("old.png")))
        for name in ["new.png", "old.png"] {
            let other = link("catalog/list", "--qr", folder.path(name))
            #expect(other.code == 64 && other.err.contains("pass a name that ends with .svg") && other.out.isEmpty)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("new.png")))
    }

    @Test("--qr - writes the image to standard output, and the link to standard error")
    func pipedImage() throws {
        let folder = try TemporaryFolder()
        #expect(link("catalog/list", "--qr", folder.path("-")).code == 0)
        let image = try String(contentsOfFile: folder.path("-"), encoding: .utf8)
        let result = link("catalog/list", "--qr", "-")
        #expect(result.code == 0 && result.out == image && result.err == link("catalog/list").out, "\(result)")
        #expect(link("catalog/list", "--qr", "-", "-q").err.isEmpty)
        let both = link("catalog/list", "--qr", "-", "--json")
        #expect(both.code == 64 && both.out.isEmpty && both.err.contains("cannot have both"), "\(both)")
        #expect(!FileManager.default.fileExists(atPath: "-"))
    }

    @Test(
        "A wrong command line or wrong data ends with a code and advice, without values",
        arguments: [
            ([], 64, "no screen"), (["nowhere"], 64, "no such screen"), (["account/order"], 64, "path.order"),
            (["account/order"], 64, "pass --data with the fields of OrderRef (order)"),
            (["account/order", "--data", "{]"], 64, "flag --data, byte 1"),
            (["account/order", "--data", #"{"OrderRef":{"order":"secret"}}"#], 64, "OrderRef.order: expected int"),
            (["account/order", "--data", #"{"OrderRef":{"order":12}}"#, "--host", "other.example"], 65, "--host"),
            (["home/search", "--data", #"{"Search":{"q":"secret\u0000"}}"#], 64, "pass other --data, another"),
        ] as [([String], Int32, String)])
    func refused(arguments: [String], code: Int32, message: String) {
        let result = linkd(["link", "--table", Self.shop, "--device", Self.device] + arguments)
        #expect(result.code == code && result.err.contains(message) && !result.err.contains("secret"), "\(result)")
    }

    @Test(
        "A link without escapes is printed as it is, or not at all",
        arguments: [(" ", "a space"), ("\u{202E}", "--json")])
    func unescaped(text: String, message: String) throws {
        let table = """
            { "schemaVersion": 2, "table": { "id": "t", "version": "1" },
              "link": [ { "schemes": ["odd"], "host": "segment", "query": { "decode": "none" } } ],
              "models": { "P": { "q": "string" } },
              "coordinators": { "m": { "initial": "p", "screens": { "p": { "needs": ["P"] } } } },
              "routes": [
                { "id": "p", "match": "/p", "to": { "path": "/m/p" }, "bind": { "P": { "q": "query.q" } } } ] }
            """
        let folder = try TemporaryFolder()
        let path = folder.path("t.json")
        try Data(table.utf8).write(to: URL(filePath: path))
        func run(_ q: String, _ flags: String...) -> CommandResult {
            linkd(["link", "m/p", "--table", path, "--data", #"{"P":{"q":"\#(q)"}}"#] + flags)
        }
        #expect(run("ab").out == "odd://p?q=ab\n")
        let refused = run("a" + text)
        #expect(refused.code == 65 && refused.out.isEmpty && refused.err.contains(message), "\(refused)")
        let json = run(text + "b", "--json")
        #expect(try JSONValue.parse(Array(json.out.utf8))["link"]?.string == "odd://p?q=\(text)b")
    }
}

extension String {
    fileprivate var trimmingLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}
