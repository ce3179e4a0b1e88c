import Foundation

/// The first members of a decision, read without parsing all of it.
struct DecisionStart: Equatable {
    var route: String?
    var variant: Int?
    var via: [String] = []
    var outcome = ""
    /// The guard of a deferred request.
    var stoppedBy: String?

    init(_ json: [UInt8]) {
        (json + [0]).withUnsafeBytes { bytes in
            let text = bytes.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped
            guard let end = Self.find("\"outcome\":\"", in: text) else { return }
            outcome = Self.word(end)
            if outcome == "deferred" { stoppedBy = Self.find("\"guard\":\"", in: text).map(Self.word) }
            if let route = Self.find("\"route\":\"", in: text), route < end { self.route = Self.word(route) }
            if let number = Self.find("\"variant\":", in: text), number < end { variant = Int(atoi(number)) }
            guard let list = Self.find("\"via\":[", in: text), list < end else { return }
            // Ids have no escapes, so the list ends at its bracket.
            via = String(cString: list).prefix { $0 != "]" }.split(separator: ",").map {
                String($0.dropFirst().dropLast())
            }
        }
    }

    /// Returns the text after the first occurrence of another text.
    private static func find(_ other: StaticString, in text: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
        other.withUTF8Buffer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { strstr(text, $0.baseAddress.unsafelyUnwrapped) }
        }.map { UnsafePointer($0) + other.utf8CodeUnitCount }
    }

    /// Returns the text up to the next quotation mark.
    private static func word(_ start: UnsafePointer<CChar>) -> String {
        let length = strcspn(start, "\"")
        return start.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }

    /// The route that was selected first.
    var firstRoute: String? { via.first ?? route }
}
