import Foundation
import StrictJSON
import TestSupport
import Testing

/// The tables of articles that have the contents of shipped files.
@Suite("The articles have the vendors, the envelopes, and the link platforms of the shipped files")
struct CatalogTableTests {
    /// A table of an article.
    struct Generated {
        /// The name of the article.
        let article: String
        /// The first line of the table, which occurs once in the article.
        let header: String
        /// The rows that are made from a file.
        let rows: [String]
    }

    @Test("Each table has the rows of its file", arguments: ["VendorTable", "EventReference", "LinkPlatforms"])
    func tables(article: String) throws {
        let file = Checkout.root.appending(path: "Sources/LinkIngest/LinkIngest.docc/\(article).md")
        let written = try String(contentsOf: file, encoding: .utf8)
        var whole = written
        let tables = try (Self.vendorTables() + Self.platformTables()).filter { $0.article == article }
        #expect(!tables.isEmpty)
        for table in tables {
            #expect(table.rows.count > 4)
            whole = try #require(Self.replaceRows(of: table, in: whole), "no table \(table.header)")
        }
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] != nil, whole != written {
            try whole.write(to: file, atomically: true, encoding: .utf8)
            Issue.record("the article was recorded: review it, then run without RECORD_SNAPSHOTS")
        }
        #expect(written == whole, "the article differs from the file; RECORD_SNAPSHOTS=1 writes it anew")
    }

    /// Returns an article with other rows in a table, or nil if it does not have the table exactly once.
    private static func replaceRows(of table: Generated, in article: String) -> String? {
        var lines = article.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let headers = lines.indices.filter { lines[$0] == table.header }
        guard headers.count == 1, let start = headers.first.map({ $0 + 2 }), start <= lines.count else { return nil }
        let end = lines[start...].firstIndex { !$0.hasPrefix("|") } ?? lines.count
        lines.replaceSubrange(start..<end, with: table.rows)
        return lines.joined(separator: "\n")
    }

    // MARK: Cells

    /// Returns a row of a table.
    private static func row(_ cells: String...) -> String {
        "| " + cells.map { $0.isEmpty ? "none" : $0 }.joined(separator: " | ") + " |"
    }

    /// Returns code spans of different texts.
    private static func code(_ texts: [String]) -> String {
        let different = texts.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return different.map { "`\($0)`" }.joined(separator: ", ")
    }

    /// Returns a text without characters that Markdown interprets.
    private static func plain(_ text: String) -> String {
        ["|", "*", "_"].reduce(text) { $0.replacing($1, with: "\\" + $1) }
    }

    private static func texts(_ value: JSONValue?) -> [String] { (value?.array ?? []).compactMap(\.string) }

    // MARK: Vendors

    private static func vendorTables() throws -> [Generated] {
        let file = try JSONValue.parse(IngestFixture.shipped("vendors.json"))
        var vendors: [String] = []
        var forms: [String] = []
        var sources: [String] = []
        var envelopes: [String] = []
        for vendor in file["vendors"]?.array ?? [] {
            let id = code([vendor["id"]?.string ?? ""])
            let all = vendor["forms"]?.array ?? []
            vendors.append(row(id, vendor["name"]?.string ?? "", code(all.flatMap(names))))
            forms += all.map { row(id, code(names($0)), code(links($0)), code(buttons($0))) }
            let remarks = vendor["remark"]?.string.map { ["remark: " + $0] } ?? []
            sources += (texts(vendor["sources"]) + remarks).map { row(id, plain($0)) }
            envelopes += all.compactMap { form in
                guard let envelope = form["envelope"]?.string else { return nil }
                let devices = texts(form["devices"]) + texts(form["device"])
                return row(
                    code([envelope]), id, code(texts(form["event"])), code(devices), code(texts(form["platform"])))
            }
        }
        let article = "VendorTable"
        return [
            Generated(article: article, header: "| Vendor | Name | Forms |", rows: vendors),
            Generated(article: article, header: "| Vendor | Form | Places of the link | Buttons |", rows: forms),
            Generated(article: article, header: "| Vendor | Source or remark |", rows: sources),
            Generated(article: article, header: "| Vendor | Form | Keys | Remark |", rows: try undocumented()),
            Generated(
                article: "EventReference", header: "| Envelope | Vendor | Id of the event | Device | Platform |",
                rows: envelopes),
        ]
    }

    /// Returns the rows about keys that are not documented.
    private static func undocumented() throws -> [String] {
        try IngestFixture.lines("vendor-keys.jsonl").flatMap { line in
            (line["undocumented"]?.object ?? []).map { kind in
                row(
                    code([line["vendor"]?.string ?? ""]), code([line["form"]?.string ?? ""]),
                    kind.name == "form" ? "all" : kind.name, plain(kind.value.string ?? ""))
            }
        }
    }

    /// Returns the classes of devices of a form, or the envelope of a form for records.
    private static func names(_ form: JSONValue) -> [String] {
        form["envelope"]?.string.map { [$0] } ?? texts(form["on"])
    }

    private static func links(_ form: JSONValue) -> [String] {
        (form["links"]?.array ?? []).compactMap { $0.string ?? $0["at"]?.string }
    }

    private static func buttons(_ form: JSONValue) -> [String] {
        (form["buttons"]?.array ?? []).compactMap { ($0["list"] ?? $0["object"] ?? $0["members"] ?? $0["id"])?.string }
    }

    // MARK: Link platforms

    private static func platformTables() throws -> [Generated] {
        let file = try JSONValue.parse(IngestFixture.shipped("link-platforms.json"))
        var rules: [String] = []
        var sources: [String] = []
        for platform in file["platforms"]?.array ?? [] {
            let id = code([platform["id"]?.string ?? ""])
            rules += (platform["rules"]?.array ?? []).map { rule in
                row(
                    id, code(texts(rule["hosts"])), code([rule["schemes"]?.string ?? "web"]),
                    rule["path"]?.string.map { code([$0]) } ?? "any", code(texts(rule["marks"])), destination(rule),
                    otherwise(rule))
            }
            sources += texts(platform["sources"]).map { row(id, plain($0)) }
        }
        let header = "| Platform | Hosts | Schemes | Path | Marks | Destination | Without a destination |"
        return [
            Generated(article: "LinkPlatforms", header: header, rows: rules),
            Generated(article: "LinkPlatforms", header: "| Platform | Source |", rows: sources),
        ]
    }

    private static func destination(_ rule: JSONValue) -> String {
        if let parameters = rule["unwrap"]?.array {
            return parameters.map { parameter in
                let name = parameter.string ?? parameter["name"]?.string ?? ""
                return code([name]) + (parameter["on"]?.string.map { " (\($0))" } ?? "")
            }.joined(separator: ", ")
        }
        let removed = [rule["prefix"]?.string].compactMap { $0 } + texts(rule["strip"])
        return removed.isEmpty ? "" : "the link without " + code(removed)
    }

    private static func otherwise(_ rule: JSONValue) -> String {
        if let result = rule["result"]?.string { return code([result]) }
        let rewrites = ["strip", "prefix", "origin"].contains { rule[$0] != nil }
        return rule["unwrap"] == nil || rewrites ? "" : "the next rule"
    }
}
