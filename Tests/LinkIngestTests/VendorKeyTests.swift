import StrictJSON
import TestSupport
import Testing

/// The documented keys of vendors in `vendor-keys.jsonl` against the table that is shipped.
@Suite("The vendor table has each documented key of each vendor, and no others")
struct VendorKeyTests {
    /// The kinds of keys that a line lists.
    static let kinds = ["marks", "links", "embedded", "buttons", "buttonLinks", "ids"]

    /// The keys of a vendor in messages for one class of devices, or in one kind of records.
    struct Row {
        var vendor: String
        var form: String
        /// The keys by kind.
        var keys: [String: Set<String>] = [:]

        var name: String { "\(vendor) \(form)" }
    }

    let lines: [JSONValue]
    let documented: [String: Row]
    let shipped: [String: Row]

    init() throws {
        lines = try IngestFixture.lines("vendor-keys.jsonl")
        let rows = lines.filter { $0["undocumented"]?["form"] == nil }.map(Self.documented)
        documented = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0) })
        shipped = Self.shipped(try JSONValue.parse(IngestFixture.shipped("vendors.json")))
    }

    // MARK: Rows

    private static func texts(_ value: JSONValue?) -> [String] { value?.array?.compactMap(\.string) ?? [] }

    private static func documented(_ line: JSONValue) -> Row {
        var row = Row(vendor: line["vendor"]?.string ?? "", form: line["form"]?.string ?? "")
        for kind in ["marks", "links", "embedded", "ids"] { row.keys[kind] = Set(texts(line[kind])) }
        let buttons = line["buttons"]?.object ?? []
        row.keys["buttons"] = Set(buttons.map(\.name))
        row.keys["buttonLinks"] = Set(buttons.flatMap { button in texts(button.value).map { button.name + " " + $0 } })
        return row
    }

    /// Returns the rows of the table: one for each class of devices of a vendor, and one for each kind of records.
    private static func shipped(_ table: JSONValue) -> [String: Row] {
        var rows: [String: Row] = [:]
        for vendor in table["vendors"]?.array ?? [] {
            let id = vendor["id"]?.string ?? ""
            for form in vendor["forms"]?.array ?? [] {
                for name in form["envelope"]?.string.map({ [$0] }) ?? texts(form["on"]) {
                    var row = rows["\(id) \(name)"] ?? Row(vendor: id, form: name)
                    for (kind, found) in keys(form) { row.keys[kind, default: []].formUnion(found) }
                    rows[row.name] = row
                }
            }
        }
        return rows
    }

    private static func keys(_ form: JSONValue) -> [String: [String]] {
        let conditions = (form["marks"]?.array ?? []).flatMap { $0.array ?? [] }
        let buttons = (form["buttons"]?.array ?? []).map { value in
            ((value["list"] ?? value["object"] ?? value["members"] ?? value["id"])?.string ?? "", links(value))
        }
        return [
            "marks": conditions.compactMap { $0.string ?? $0["at"]?.string ?? $0["prefix"]?.string.map { $0 + "*" } },
            "links": links(form), "embedded": texts(form["embedded"]),
            "buttons": buttons.map(\.0), "buttonLinks": buttons.flatMap { at, links in links.map { "\(at) \($0)" } },
            "ids": ["message", "campaign", "event"].flatMap { texts(form[$0]) },
        ]
    }

    private static func links(_ value: JSONValue) -> [String] {
        (value["links"]?.array ?? []).compactMap { $0.string ?? $0["at"]?.string }
    }

    // MARK: Tests

    @Test("Each documented row is in the table with its keys, and the table has no other row or key")
    func keys() {
        #expect(Set(documented.keys) == Set(shipped.keys))
        for (name, row) in documented {
            for kind in Self.kinds {
                #expect(shipped[name]?.keys[kind] ?? [] == row.keys[kind], "\(name): \(kind)")
            }
        }
    }

    @Test("The numbers of vendors, rows, and keys are those of the vendors' documentation")
    func counts() {
        func count(_ kind: String, _ rows: [String: Row]) -> Int {
            rows.values.reduce(0) { $0 + ($1.keys[kind]?.count ?? 0) }
        }
        for rows in [documented, shipped] {
            #expect(Set(rows.values.map(\.vendor)).count == 21)
            #expect(rows.count == 54)
            #expect(Self.kinds.map { count($0, rows) } == [125, 98, 24, 33, 31, 78])
        }
        #expect(lines.count == 60)
    }

    @Test("A key that is no link is not read as one, and what is not documented is not in the table")
    func others() {
        for line in lines {
            let row = Self.documented(line)
            let found = shipped[row.name]
            for key in (line["notLinks"]?.object ?? []).map(\.name) {
                #expect(found?.keys["links"]?.contains(key) == false, "\(row.name) \(key)")
            }
            for (kind, remark) in (line["undocumented"]?.object ?? []).map({ ($0.name, $0.value.string ?? "") }) {
                #expect(kind == "form" ? found == nil : found?.keys[kind] == [], "\(row.name) \(kind)")
                #expect(!remark.isEmpty, "\(row.name) \(kind)")
            }
            // A row without a link needs a reason.
            if row.keys["links"] == [] {
                let remarks = line["undocumented"]
                #expect(remarks?["form"] != nil || remarks?["links"] != nil, "\(row.name)")
            }
        }
    }
}
