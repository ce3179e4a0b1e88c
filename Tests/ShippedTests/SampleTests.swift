import ByteStorage
import Foundation
import LinkIngest
import TestSupport
import Testing

/// The sample files, read as events.
@Suite struct SampleTests {
    @Test("Every sample event is valid and has a device", arguments: Shipped.eventFiles)
    func eventsAreRead(file: String) throws {
        for sample in try Shipped.samples(file) {
            #expect(throws: Never.self, "\(sample.name)") {
                let event = try LinkEvent.read(Array(sample.text.utf8))
                #expect(event.devices.allSatisfy { !$0.id.isEmpty })
            }
            #expect(sample.members["about"] is String, "\(sample.name) has a description")
            #expect(sample.expected["outcome"] is String, "\(sample.name) has an expected outcome")
        }
    }

    /// The reasons that only a worker can determine.
    static let found: Set = ["null_value", "empty_value", "encoding_unsupported", "application_unknown"]

    @Test("Each sample record has the expected reason, or is valid")
    func recordsAreWhatTheySay() throws {
        let samples = try Shipped.samples("records")
        for sample in samples {
            let expected = sample.expected["dead_letter"] as? String
            guard let value = Self.value(of: sample), !Self.found.contains(expected ?? "") else { continue }
            let key = (sample.members["key"] as? String).map { Array($0.utf8) }
            var reason: String?
            do { _ = try LinkEvent.read(value, key: key) } catch { reason = error.reason }
            #expect(reason == expected, "\(sample.name)")
        }
        let reasons = Set(samples.compactMap { $0.expected["dead_letter"] as? String })
        #expect(reasons.isSuperset(of: Self.found))
        #expect(reasons.count >= 13)
    }

    /// Returns the bytes of a record's value, or nil if it has none.
    static func value(of sample: Shipped.Sample) -> [UInt8]? {
        if let text = sample.members["value"] as? String { return Array(text.utf8) }
        guard let hex = sample.members["hex"] as? String else { return nil }
        return stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    }

    @Test(
        "The reader of a worker with a registry refuses what the event schema refuses",
        arguments: SchemaTests.refused.filter { $0.schema == "event" }.map(\.text))
    func readerAgreesWithTheSchema(text: String) {
        var reader = EventReader(devices: GivenDevices())
        let isRead = Array(text.utf8).withUnsafeBufferPointer { value in
            Array("d-1".utf8).withUnsafeBufferPointer { key in
                reader.readInPlace(value: ByteView(value), key: ByteView(key))
            }
        }
        #expect(!isRead)
    }

    @Test("Route tables and samples name the same applications")
    func applications() throws {
        let owned = try Shipped.tables().compactMap { table -> [String]? in
            let json = try JSONSerialization.jsonObject(with: Data((table.text ?? "").utf8)) as? [String: Any]
            return (json?["table"] as? [String: Any])?["applications"] as? [String]
        }.joined()
        #expect(Set(owned).count == owned.count)
        let named = try Shipped.eventFiles.flatMap(Shipped.samples).compactMap { $0.members["application"] as? String }
        #expect(Set(named).subtracting(owned) == [])
    }
}
