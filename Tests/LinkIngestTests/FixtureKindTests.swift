import Foundation
import StrictJSON
import Testing

/// The member `kind` of the fixtures, see `Fixtures/README.md`.
@Suite("Each vendor and each envelope has fixtures of each kind that applies to it")
struct FixtureKindTests {
    /// The least number of fixtures of a vendor or an envelope.
    static let least = 6

    /// Returns a Boolean value that indicates whether the results of a fixture are those of its kind.
    private static func hasItsKind(_ line: VendorFixtureTests.Line, vendor: String?) -> Bool {
        let expected = line.expected
        let results = expected["results"]?.array ?? [expected]
        let first = results.first ?? expected
        func notes(_ value: JSONValue) -> [String] { value["notes"]?.array?.compactMap(\.string) ?? [] }
        switch line.value["kind"]?.string {
        case "ios", "android", "web":
            let platform = line.value["platform"]?.string ?? first["platform"]?.string
            return (first["link"] != nil || vendor != nil)
                && (platform == nil || platform?.lowercased() == line.value["kind"]?.string)
        case "record": return first["link"] != nil
        case "silent": return first["reason"]?.string == "no_link"
        case "malformed": return expected["error"]?.string == "bad_json"
        case "collision":
            return results.contains { $0["others"] != nil } || vendor != nil && first["vendor"]?.string != vendor
                || notes(expected).contains { $0.hasPrefix("envelope_also:") } || line.name.contains("precedence")
        case "button":
            return (line.value["action"] ?? line.value["value"]?["action"] ?? line.value["value"]?["data"]?["action"])
                != nil || line.value["hex"] != nil
        case "other": return true
        default: return false
        }
    }

    // MARK: Vendors

    /// Returns the kinds that a vendor needs.
    private static func kinds(of vendor: JSONValue) -> Set<String> {
        var kinds: Set = ["silent", "malformed", "collision"]
        for form in vendor["forms"]?.array ?? [] {
            for name in form["on"]?.array?.compactMap(\.string) ?? [] { kinds.insert(name == "apple" ? "ios" : name) }
            if form["buttons"] != nil && form["envelope"] == nil { kinds.insert("button") }
        }
        return kinds
    }

    @Test("Each row of the table has a file with each kind, and a tapped button for each class with buttons")
    func vendors() throws {
        let table = try JSONValue.parse(IngestFixture.shipped("vendors.json"))["vendors"]?.array ?? []
        let files = try VendorFixtureTests.files("vendors")
        let names = files.map { $0.deletingPathExtension().lastPathComponent }
        #expect(Set(names) == Set(table.compactMap { $0["id"]?.string }))
        for file in files {
            let id = file.deletingPathExtension().lastPathComponent
            let vendor = try #require(table.first { $0["id"]?.string == id })
            let lines = try VendorFixtureTests.lines(file)
            #expect(lines.count >= Self.least, "\(id)")
            for line in lines { #expect(Self.hasItsKind(line, vendor: id), "\(line.name)") }
            let missing = Self.kinds(of: vendor).subtracting(lines.compactMap { $0.value["kind"]?.string })
            #expect(missing == [], "\(id)")
            for form in vendor["forms"]?.array ?? [] where form["buttons"] != nil && form["envelope"] == nil {
                for name in form["on"]?.array?.compactMap(\.string) ?? [] {
                    let platform = name == "apple" ? "ios" : name
                    let isTapped = lines.contains {
                        $0.value["kind"]?.string == "button" && $0.value["platform"]?.string == platform
                    }
                    #expect(isTapped, "\(id): a button for \(platform)")
                }
            }
        }
    }

    // MARK: Envelopes

    /// The kinds of envelopes that do not need all of them.
    private static let exceptions: [String: Set<String>] = [
        // The body of Apple's service, and a push of browsers.
        "apns": ["ios", "silent", "malformed", "collision", "button"],
        "web_push": ["web", "silent", "malformed", "collision", "button"],
        // A bare link always opens something, and a batch is refused.
        "url": ["record", "malformed"], "cloudevents_batch": [],
    ]

    /// The envelopes that this program knows without the table.
    private static let envelopes = [
        "native", "url", "apns", "fcm_wrapped", "fcm_bare", "fcm_snake", "fcm_camel", "web_push", "vendor_map",
        "cloudevents_binary", "cloudevents_structured", "cloudevents_batch", "confluent",
    ]

    @Test("Each envelope has each kind, and those of vendors with buttons a tapped button")
    func recordForms() throws {
        var needed: [String: Set<String>] = [:]
        for name in Self.envelopes {
            needed[name] = Self.exceptions[name] ?? ["ios", "android", "silent", "malformed", "collision", "button"]
            if name.hasPrefix("fcm_") { needed[name]?.insert("web") }
        }
        let table = try JSONValue.parse(IngestFixture.shipped("vendors.json"))["vendors"]?.array ?? []
        for form in table.flatMap({ $0["forms"]?.array ?? [] }) {
            guard let name = form["envelope"]?.string else { continue }
            needed[name] = ["ios", "android", "silent", "malformed", "collision"]
            if form["buttons"] != nil { needed[name]?.insert("button") }
        }
        var found: [String: [String]] = [:]
        for line in try VendorFixtureTests.files("envelopes").flatMap(VendorFixtureTests.lines) {
            #expect(Self.hasItsKind(line, vendor: nil), "\(line.name)")
            let names = line.value["of"]?.array?.compactMap(\.string) ?? []
            #expect(!names.isEmpty, "\(line.name)")
            for name in names { found[name, default: []].append(line.value["kind"]?.string ?? "") }
        }
        #expect(Set(found.keys) == Set(needed.keys))
        for (name, kinds) in needed {
            #expect(kinds.subtracting(found[name] ?? []) == [], "\(name)")
            if name != "cloudevents_batch" { #expect((found[name]?.count ?? 0) >= Self.least, "\(name)") }
        }
    }
}
