internal import ByteStorage
internal import LinkIngest
internal import Testing

@testable internal import LinkdCommands

/// The answers of `linkd inspect --devices` and `--user`, from records.
@Suite struct DeviceSearchTests {
    /// A record of the registry: `partition`, `offset`, and time are in the order of a list if they are not given.
    private struct Step {
        var key: String?
        var value: String?
        var partition: Int32 = 0
        var time: Int64?

        init(_ key: String?, _ value: String?, partition: Int32 = 0, time: Int64? = nil) {
            self.key = key
            self.value = value
            self.partition = partition
            self.time = time
        }
    }

    private static func search(
        _ subject: DeviceSearch.Subject, _ steps: [Step], limit: Int = DeviceSearch.maxBytes
    ) throws -> (lines: [String], former: Int) {
        var search = DeviceSearch(subject, .standard, limit: limit)
        for (index, step) in steps.enumerated() {
            let record = InspectedRecord(
                topic: "d", partition: step.partition, offset: Int64(index), timestamp: step.time ?? Int64(index),
                key: step.key.map { Array($0.utf8) }, value: step.value.map { Array($0.utf8) }, headers: [])
            try record.withViews { try search.add($0) }
        }
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        let lines = search.found.map { id, entry in
            let state =
                switch entry.state {
                case .unknown: "unknown"
                case .deleted(let place): "deleted@\(place.offset)"
                case .known(let place, let user, let value):
                    "\(text(value))@\(place.offset) of \(text(user))"
                }
            let malformed = entry.lastMalformed.map { " malformed \(entry.malformed), last \($0.offset)" } ?? ""
            return "\(text(id)) \(state)\(malformed)"
        }
        return (lines, search.formerCount)
    }

    private static let ios = #"{"platform":"ios"}"#
    private static let web = #"{"platform":"web"}"#

    @Test("The last record of a device that is not malformed is the answer")
    func device() throws {
        let bad = #"{"platform":7}"#
        let cases: [(steps: [Step], expected: String)] = [
            ([], "d-1 unknown"), ([Step("d-2", Self.ios)], "d-1 unknown"),
            ([Step("d-1", Self.ios), Step("d-1", Self.web), Step("d-2", Self.ios)], "d-1 \(Self.web)@1 of "),
            ([Step("d-1", Self.ios), Step("d-1", nil)], "d-1 deleted@1"),
            ([Step("d-1", nil), Step("d-1", Self.ios)], "d-1 \(Self.ios)@1 of "),
            ([Step("d-1", #"{"user":"u-1"}"#)], #"d-1 {"user":"u-1"}@0 of u-1"#),
            ([Step("d-1", Self.ios), Step("d-1", bad), Step("d-1", "x")], "d-1 \(Self.ios)@0 of  malformed 2, last 2"),
            ([Step("d-1", nil), Step("d-1", bad)], "d-1 deleted@0 malformed 1, last 1"),
            ([Step("d-1", bad)], "d-1 unknown malformed 1, last 0"),
            ([Step("d-1", bad), Step("d-1", Self.ios)], "d-1 \(Self.ios)@1 of "),
            ([Step(nil, Self.ios), Step("", Self.ios)], "d-1 unknown"),
        ]
        for (steps, expected) in cases {
            #expect(try Self.search(.device(Array("d-1".utf8)), steps).lines == [expected])
        }
    }

    @Test("Records of a device in several partitions are ordered by their times, whatever is read first")
    func partitions() throws {
        let old = Step("d-1", Self.ios, partition: 1, time: 10)
        let new = Step("d-1", Self.web, partition: 0, time: 20)
        let subject = DeviceSearch.Subject.device(Array("d-1".utf8))
        #expect(try Self.search(subject, [old, new]).lines == ["d-1 \(Self.web)@1 of "])
        #expect(try Self.search(subject, [new, old]).lines == ["d-1 \(Self.web)@0 of "])
        // In one partition, offsets count.
        let early = Step("d-1", Self.web, partition: 1, time: 5)
        #expect(try Self.search(subject, [old, early]).lines == ["d-1 \(Self.web)@1 of "])
    }

    private static func value(_ user: String) -> String { #"{"user":"\#(user)"}"# }

    @Test("The devices of a user are those whose last good record names it, ordered by their ids")
    func user() throws {
        let steps = [
            Step("d-3", Self.value("u-1")), Step("d-1", Self.value("u-1")), Step("d-2", Self.value("u-2")),
            Step("d-4", Self.value("u-1")), Step("d-5", Self.value("u-1")), Step("d-6", Self.value("u-2")),
            Step("d-4", Self.value("u-2")), Step("d-5", nil), Step("d-6", Self.value("u-1")),
            Step("d-3", #"{"user":""}"#), Step("d-2", "x"), Step("d-7", Self.ios),
        ]
        let (lines, former) = try Self.search(.user(Array("u-1".utf8)), steps)
        #expect(
            lines == [
                #"d-1 {"user":"u-1"}@1 of u-1"#, #"d-3 {"user":"u-1"}@0 of u-1 malformed 1, last 9"#,
                #"d-6 {"user":"u-1"}@8 of u-1"#,
            ])
        #expect(former == 2)
        #expect(try Self.search(.user(Array("u".utf8)), steps).lines == [])
    }

    @Test("A device comes back to a user with its new value")
    func comesBack() throws {
        let steps = ["u-1", "u-2", "u-1"].map { Step("d-1", Self.value($0)) }
        let (lines, former) = try Self.search(.user(Array("u-1".utf8)), steps)
        #expect(lines == [#"d-1 {"user":"u-1"}@2 of u-1"#] && former == 0)
    }

    @Test("The memory does not grow with other devices, and a user with too many devices is a failure")
    func memory() throws {
        let subject = DeviceSearch.Subject.user(Array("u-1".utf8))
        let others = (0..<10_000).map { Step("d-\($0)", Self.value("u-2")) }
        #expect(try Self.search(subject, others, limit: 0).lines == [])
        let own = (0..<100).map { Step("d-\($0)", Self.value("u-1")) }
        #expect(try Self.search(subject, own, limit: 100 * 600).lines.count == 100)
        let error = #expect(throws: CommandFailure.self) { try Self.search(subject, own, limit: 50 * 512) }
        #expect(error?.code == .badData)
        #expect(error?.line.contains("--devices ID") == true, "\(error?.line ?? "")")
        // One device that changes often needs no more than one value.
        let changes = (0..<1000).map { _ in Step("d-1", Self.value("u-1")) }
        #expect(try Self.search(subject, changes, limit: 600).lines.count == 1)
    }
}
