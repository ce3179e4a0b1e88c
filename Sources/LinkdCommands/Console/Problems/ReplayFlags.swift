internal import DispatchWorker
internal import StrictJSON

/// The dead letters of a request to `/api/replay`, as flags of `linkd dlq replay`.
struct ReplayFlags: Equatable {
    /// The members of a request.
    static let members = ["topic", "reason", "since", "until", "offsets", "ticket"]
    /// The maximum number of ranges of offsets.
    static let maxRanges = 1000

    /// The flags other than those of times, with their values.
    private var others: [String] = []
    /// The times by the names of their flags.
    private var times: [String: String] = [:]

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
        for name in ["since", "until"] { try addTime(name, body) }
        guard let member = body.value["offsets"], !member.isNull else { return }
        // Without a range, the request would choose all dead letters.
        let ranges = member.array ?? []
        guard !ranges.isEmpty, ranges.count <= Self.maxRanges else { throw Self.badRanges }
        for range in ranges {
            guard range.object?.count == 3, let partition = range["partition"]?.integer,
                let first = range["first"]?.integer, let last = range["last"]?.integer,
                (0...Int64(Int32.max)).contains(partition), first >= 0, last >= first
            else { throw Self.badRanges }
            others += ["--offsets", "\(partition):\(first)-\(last)"]
        }
    }

    private static let badRanges = ConsoleProblem(
        code: "member", message: "`offsets` is not a list of 1 to \(maxRanges) ranges",
        next: "send objects such as {\"partition\":3,\"first\":1200,\"last\":1200}")

    /// Returns the choice with times that do not depend on the time of the call, and that ends now.
    ///
    /// So the replay does not choose dead letters that its dry run could not show.
    func fixed(now: Int64) -> ReplayFlags {
        var result = self
        result.times = times.mapValues { Timestamps.parse($0, now: now).map(Timestamp.text(milliseconds:)) ?? $0 }
        if result.times["until"] == nil { result.times["until"] = Timestamp.text(milliseconds: now) }
        return result
    }

    /// The words of the command line.
    var words: [String] {
        others + times.sorted { $0.key < $1.key }.flatMap { ["--\($0.key)", $0.value] }
    }

    private mutating func addTime(_ name: String, _ body: RequestBody) throws(ConsoleProblem) {
        guard let text = try body.text(name, maxBytes: 64) else { return }
        guard !text.hasPrefix("-"), Timestamps.parse(text, now: Platform.nowMilliseconds) != nil else {
            throw ConsoleProblem(
                code: "member", message: "`\(name)` is not a time such as 2026-11-20T10:00:00Z",
                next: "correct the value")
        }
        times[name] = text
    }

    private mutating func add(
        _ name: String, _ body: RequestBody, expected: String, _ isValid: (String) -> Bool
    ) throws(ConsoleProblem) {
        guard let text = try body.text(name, maxBytes: 256) else { return }
        guard !text.isEmpty, isValid(text) else {
            throw ConsoleProblem(code: "member", message: "`\(name)` is not \(expected)", next: "correct the value")
        }
        others += ["--\(name)", text]
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
