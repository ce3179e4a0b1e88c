import LinkDecider
import LinkCoordinator
import ByteStorage
import TestSupport
import Testing

/// A decider's result for a record: decisions with their keys, or the reason for its dead letter.
struct Answer: Equatable, CustomStringConvertible {
    var decisions: [String] = []
    var deadLetter: String?

    init(_ text: String, by decider: inout Decider) { self.init(Array(text.utf8), by: &decider) }

    init(_ bytes: [UInt8], by decider: inout Decider) {
        var arena = OutputArena(chunkBytes: 4096)
        var decisions: [String] = []
        // A copy of the exact length lets a sanitizer detect reads beyond its end or after its lifetime.
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
        defer { memory.deallocate() }
        for (index, byte) in bytes.enumerated() { memory[index] = byte }
        let cause = decider.decide(
            value: ByteView(start: UnsafePointer(memory), count: bytes.count), key: ByteView("k"), into: &arena
        ) { device, decision, _ in decisions.append("\(device.string): \(decision.string)") }
        deadLetter = cause.map { "\($0.reason) \($0.detail) \($0.pointer ?? "-")" }
        if cause == nil { self.decisions = decisions }
    }

    var description: String { deadLetter ?? decisions.joined(separator: "\n") }
}

@Suite("The caches of a decider never change a decision")
struct CacheTests {
    static func table(_ id: String = "shop", host: String = "shop.example", more: String = "") throws -> RouteTable {
        try RouteTable(
            json:
                Array(
                    """
                    {"schemaVersion":1,"table":{"id":"\(id)","version":"1"},
                     "link":{"schemes":["shop","https"],"host":"authority","hosts":["\(host)","*.\(host)"\(more)],
                             "payload":{"link":["/link","/data/link"]}},
                     "coordinators":{"c":{"initial":"a","screens":{"a":{},"b":{},"d":{}}}},
                     "routes":[{"id":"new","match":"/p/new","variants":[
                       {"when":{"attributes":{"zz":"1"}},"to":{"path":"/c/a"}},
                       {"when":{"attributes":{"zz":"2"}},"to":{"path":"/c/b"}},
                       {"to":{"path":"/c/d"}}]}],
                     "fallback":{"outcome":"reject"}}
                    """.utf8))
    }

    @Test(
        "A duplicate name is rejected regardless of the number of cached names",
        arguments: [
            (#"{"link":"shop:///p/new","devices":[{"zz":"1","#, #","zz":"2","id":"d"}]}"#),
            (#"{"link":"shop:///p/new","device":{"id":"d","attributes":{"zz":"1","#, #","zz":"2"}}}"#),
            (#"{"link":"shop:///p/new","zz":"1","#, #","zz":"2","device":{"id":"d"}}"#),
        ])
    func names(head: String, tail: String) throws {
        var decider = Decider(DeciderConfiguration(tables: TableSet([try Self.table(more: #","""#)])))
        for number in 0..<3000 {
            let event = head + (0..<3).map { #""u\#(number)_\#($0)":\#($0)"# }.joined(separator: ",") + tail
            let answer = Answer(event, by: &decider)
            guard answer.deadLetter?.hasPrefix("badJSON the object has two members") == true else {
                Issue.record("\(event): \(answer)")
                return
            }
        }
    }

    @Test("Reading a payload's link to choose the table leaves no false origin in the caches")
    func payloadLinks() throws {
        let tables = TableSet([try Self.table(), try Self.table("other", host: "other.example")])
        func payload(_ link: String) -> String { #"{"payload":{"link":"\#(link)"},"device":{"id":"d"}}"# }
        let links = ["shop.example", "other.example", "wrong.example"].flatMap { host in
            [
                "https:\\/\\/\(host)\\/p\\/new", "https://\(host)/p/new", "HTTPS:\\/\\/\(host.uppercased())\\/p\\/new",
                "https:\\/\\/a.\(host)\\/\(String(repeating: "x", count: 40))\\/p\\/new",
            ]
        }
        // The text that memory holds after the lowercase host was written over an origin.
        let wrong = ["shop.example", "other.example"].map { host in
            #"{"link":"\#(host)\#("https://\(host)".dropFirst(host.count))/p/new"}"#
        }
        var decider = Decider(DeciderConfiguration(tables: tables))
        for first in links {
            for second in links {
                for record in [payload(first), payload(second)] + wrong {
                    var fresh = Decider(DeciderConfiguration(tables: tables))
                    let expected = Answer(record, by: &fresh)
                    let answer = Answer(record, by: &decider)
                    if answer != expected { Issue.record("\(record) after \(first): \(answer), not \(expected)") }
                    let isWrong = record.lowercased().contains("wrong") || wrong.contains(record)
                    #expect((answer.deadLetter == nil) == !isWrong, "\(record)")
                }
            }
        }
    }
}
