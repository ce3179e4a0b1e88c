import LinkCoordinator
import LinkIngest
import ByteStorage
import Testing

@Suite("A reader keeps no state of the previous record")
struct ReuseTests {
    static let records = [
        #"{"id":"e-1","link":"https://shop.example/p?a=b","device":{"id":"d-1","platform":"ios","app":"6.1.0"},"x":1}"#,
        #"{"id":"e-2","link":"shop:\/\/p","device":{"id":"d\u0031","os":"1","claims":["a"]},"application":"com.a"}"#,
        #"{"link":"a:b","devices":[{"id":"d1","region":"GB"},{"id":"d2","coordinator":"home"}],"action":"open"}"#,
        #"{"id":"e-3","path":"/home","mode":"append","device":{"id":"d"},"expires":"2026-01-01T00:00:00Z"}"#,
        #"{"route":"item","params":{"id":1},"device":{"id":"d","capabilities":["x"],"attributes":{"a":"b"}}}"#,
        #"{"payload":{"aps":{"alert":"x"},"link":"a:b"},"payloadType":"apns","device":{"id":"d"}}"#,
        #"{"aps":{"alert":"x"}}"#, #"{"message":{"token":"t","data":{"link":"a:b"}}}"#, "shop://p/1\\2", "shop:///p/1",
        #"{"id":5,"link":"a:b","device":{"id":"d"}}"#, #"{"link":1,"device":{"id":"d"}}"#, #"{"link":"a:b""#, "", "no",
        #"{"id":"","link":"a:b","device":{"id":"d"}}"#, #"{"link":"a:b","device":{"id":""}}"#,
        #"{"link":"a:b","device":{}}"#, #"{"link":"a:b"}"#, #" {"link":"a:b"} "#, #"{"link":"кот","id":"é"}"#,
        #"{"link":"a:b","device":null,"mode":"reuse"}"#, #"{"link":"a:b","path":"/"}"#,
        #"{"id":"e-9","link":"a:b","device":{"id":"d-9","os":"7"}}"#, #"{"link":"a:b","device":{"id":"d-9"}}"#,
    ]

    /// All values that a reader returns for a record.
    private func reading(_ text: String, _ reader: inout EventReader, key: String?) -> [String] {
        let bytes = ExactBytes(Array(text.utf8))
        let keyBytes = ExactBytes(Array((key ?? "").utf8))
        guard reader.readInPlace(value: bytes.view, key: key == nil ? nil : keyBytes.view) else {
            return ["\(reader.failure)"]
        }
        let event = reader.eventPointer.pointee
        let request = event.request
        if case .link = request.form { check(request, in: bytes.view, text) }
        var values = [
            event.id.string, event.id.isEmpty ? "" : "\(event.idIsPlain)", "\(request.form)", request.text.string,
            "\(request.mode)", request.params.string,
            request.payload.string, "\(event.hasApplication) \(event.application.string) \(event.action.string)",
            "\(String(describing: event.expires)) \(event.deviceCount) \(event.context.string)",
        ]
        for index in 0..<event.deviceCount {
            guard let device = try? reader.device(at: index) else { return values + ["device \(index) is invalid"] }
            let facts = device.facts
            values.append("\(device.id.string) \(device.isPlain) \(facts.known) \(facts.unreadable)")
            values += [facts.platform, facts.app, facts.os, facts.locale, facts.region, facts.coordinator].map(\.string)
            values += [facts.capabilities, facts.claims, facts.attributes, device.roots].map { "\($0.map(\.string))" }
        }
        return values
    }

    /// Properties that the resolver requires: a screened link has no forbidden bytes, and the bytes after it belong to
    /// the record.
    private func check(_ request: RequestView, in record: ByteView, _ text: String) {
        let link = request.text
        if request.isScreened {
            #expect(link.array.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }, "\(text)")
        }
        if request.bytesAfter > 0 {
            #expect(link.start >= record.start && link.end + request.bytesAfter <= record.end, "\(text)")
        }
    }

    @Test("Each record yields the same after any other record", arguments: [nil, "k"])
    func pairs(key: String?) {
        for second in Self.records {
            var fresh = EventReader()
            let expected = reading(second, &fresh, key: key)
            for first in Self.records {
                var used = EventReader()
                // The second read uses the template that the first one learned.
                for _ in 0..<2 { _ = reading(first, &used, key: key) }
                #expect(reading(second, &used, key: key) == expected, "\(second) after \(first)")
                #expect(reading(second, &used, key: key) == expected, "\(second) twice after \(first)")
            }
        }
    }
}
