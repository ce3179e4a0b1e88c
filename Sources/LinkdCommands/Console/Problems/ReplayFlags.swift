internal import StrictJSON

/// The dead letters of a request to `/api/replay`, as flags of `linkd dlq replay`.
struct ReplayFlags: Equatable {
    /// The members of a request.
    static let members = ["topic", "reason", "since", "until", "offsets", "ticket"]
    /// The maximum number of ranges of offsets.
    static let maxRanges = 1000

    /// The flags with their values.
    private(set) var words: [String] = []

    /// Reads the choice of a request.
    ///
    /// Each value is checked here, so that none can be read as another flag.
    init(_ body: RequestBody) throws(ConsoleProblem) {
        try add("topic", body, expected: "the name of an input topic") { text in
            text.utf8.count <= 249 && text.utf8.allSatisfy(Self.isTopicByte) && !text.hasPrefix("-")
        }
        try add("reason", body, expected: "a reason such as bad_json") { text in
            text.utf8.count <= 64 && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
        }
        for name in ["since", "until"] {
            try add(name, body, expected: "a time such as 2026-11-20T10:00:00Z") { text in
                !text.hasPrefix("-") && Timestamps.parse(text, now: Platform.nowMilliseconds) != nil
            }
        }
        let ranges = body.value["offsets"]?.array ?? []
        for range in ranges {
            guard ranges.count <= Self.maxRanges, let partition = range["partition"]?.integer,
                let first = range["first"]?.integer, let last = range["last"]?.integer,
                (0...Int64(Int32.max)).contains(partition), first >= 0, last >= first
            else {
                throw ConsoleProblem(
                    code: "member", message: "`offsets` is not a list of at most \(Self.maxRanges) ranges",
                    next: "send objects such as {\"partition\":3,\"first\":1200,\"last\":1200}")
            }
            words += ["--offsets", "\(partition):\(first)-\(last)"]
        }
    }

    private mutating func add(
        _ name: String, _ body: RequestBody, expected: String, _ isValid: (String) -> Bool
    ) throws(ConsoleProblem) {
        guard let text = try body.text(name, maxBytes: 256) else { return }
        guard !text.isEmpty, isValid(text) else {
            throw ConsoleProblem(code: "member", message: "`\(name)` is not \(expected)", next: "correct the value")
        }
        words += ["--\(name)", text]
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
