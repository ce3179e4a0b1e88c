internal import ByteStorage
internal import StrictJSON

/// The names of query items whose values a decision has in `context.query`, and the values of the current request.
///
/// A decider owns one instance, which all of its resolvers use one after another.
///
/// See DecisionReference, "Context".
package struct QueryNames: ~Copyable {
    /// The default names, which describe a campaign.
    package static let campaign = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"]
    /// The limit of names.
    package static let most = 16
    /// The size limit of all values of a decision, in bytes without escapes.
    package static let valueBytes = 1024

    private struct Item {
        var name: ByteView
        /// The quoted name and the colon.
        var head: ByteView
        /// The value as it is written in the link, or an empty view.
        var value = ByteView.empty
    }

    private let items: UnsafeMutablePointer<Item>
    private let count: Int
    private var texts = OutputArena(chunkBytes: 4096)
    /// The lowest six bits of the first bytes of the names, as bits, which exclude most other names.
    private var firstBits: UInt64 = 0
    /// The names without a value so far, as bits.
    private var missing: UInt32 = 0

    /// Creates a list of names.
    ///
    /// Empty and repeated names, and names beyond the limit, are ignored.
    package init(_ names: [String]) {
        var kept: [String] = []
        for name in names where !name.isEmpty && !kept.contains(name) && kept.count < Self.most { kept.append(name) }
        count = kept.count
        items = .allocate(capacity: Self.most)
        for (index, name) in kept.enumerated() {
            texts.begin()
            texts.append(Array(name.utf8))
            let text = texts.finish()
            texts.begin()
            texts.appendString(text)
            texts.append(byte: UInt8(ascii: ":"))
            (items + index).initialize(to: Item(name: text, head: texts.finish()))
            firstBits |= Self.bit(text.start[0])
        }
    }

    deinit { items.deallocate() }

    private static func bit(_ byte: UInt8) -> UInt64 { 1 &<< UInt64(byte & 63) }

    /// A Boolean value that indicates whether a name has a value.
    var hasValues: Bool { missing != all }

    private var all: UInt32 { UInt32(1) << UInt32(count) - 1 }

    /// Forgets the values.
    mutating func begin() { missing = all }

    /// Finds the first value of each name that has none so far.
    ///
    /// An empty value counts as none. Names are compared byte by byte with their spelling in the link. The query is
    /// read for each device, so items after as many as a table can accept do not count.
    mutating func find(in query: ByteView) {
        var at = 0
        var rest = TableSource.LinkLimits.queryItemsBounds.upperBound
        while at < query.count, missing != 0, rest > 0 {
            rest &-= 1
            if firstBits & Self.bit(query.start[at]) != 0 { read(query, at) }
            at = ByteScan.first(UInt8(ascii: "&"), in: query, from: at) &+ 1
        }
    }

    /// Reads the item at a position if it has one of the names.
    private mutating func read(_ query: ByteView, _ at: Int) {
        for index in 0..<count where missing & 1 << UInt32(index) != 0 {
            let name = items[index].name
            let start = at &+ name.count
            guard start < query.count, query.start[start] == UInt8(ascii: "="), query.slice(at, start) == name else {
                continue
            }
            let end = ByteScan.first(UInt8(ascii: "&"), in: query, from: start)
            guard end > start &+ 1 else { return }
            items[index].value = query.slice(start &+ 1, end)
            missing &= ~(1 << UInt32(index))
            return
        }
    }

    /// Writes the values that were found as the member `query`, in the order of the names.
    ///
    /// A value that cannot be decoded, and one beyond the limit, is left out with a note. Without any value, nothing is
    /// written.
    mutating func write(
        after separator: StaticString, _ decodings: inout ResolutionTexts, _ notes: inout Growable<Note>,
        into out: inout OutputArena
    ) {
        var bytes = 0
        for index in 0..<count where missing & 1 << UInt32(index) == 0 {
            guard let text = Self.decoded(items[index].value, &decodings), bytes &+ text.count <= Self.valueBytes else {
                notes.append(Note("query_skipped ", items[index].name))
                continue
            }
            if bytes == 0 { out.append(separator) }
            out.append(bytes == 0 ? "\"query\":{" : ",")
            out.append(items[index].head)
            out.appendString(text)
            bytes &+= text.count
        }
        if bytes > 0 { out.append(byte: UInt8(ascii: "}")) }
    }

    /// Returns a value as a form decodes it, in which `+` is a space, or nil if it is malformed or too long.
    private static func decoded(_ value: ByteView, _ texts: inout ResolutionTexts) -> ByteView? {
        // An escape of one byte has three.
        guard value.count <= 3 * valueBytes else { return nil }
        var text = value
        if ByteScan.first(UInt8(ascii: "%"), or: UInt8(ascii: "+"), in: value, from: 0) < value.count {
            texts.begin()
            let decodes = PercentDecoding.decode(value, plusIsSpace: true, into: &texts.arena)
            text = texts.finish()
            guard decodes else { return nil }
        }
        return PercentDecoding.isClean(text, invisiblesAllowed: false) ? texts.normalForm(text) : nil
    }
}

// Writes the context of a decision.
extension Resolver {
    /// The query of the wrappers around the link, which its platforms unwrapped, or an empty view.
    private var wrapperQuery: ByteView {
        mutating get { request.form == .link ? request.found.wrapperQuery : requested.wrapperQuery }
    }

    /// Writes `context`: the members of the event, then `expires` and `query`.
    ///
    /// An expiry that RFC 3339 cannot express is left out with a note.
    @inline(never)
    mutating func writeContext(_ head: Ref<DecisionHead>, _ out: inout OutputArena) {
        guard head.expires != nil || head.queryNames != nil else {
            out.append(",\"context\":{")
            out.append(head.context)
            out.append(byte: UInt8(ascii: "}"))
            return
        }
        let start = out.recordBytes
        var separator: StaticString = ",\"context\":{"
        if !head.context.isEmpty {
            out.append(separator)
            out.append(head.context)
            separator = ","
        }
        if let expires = head.expires, !Self.timesOfYears.contains(expires) {
            notes.append(Note("expires_skipped"))
        } else if let expires = head.expires {
            out.append(separator)
            out.append("\"expires\":\"")
            if expires % 1000 == 0 {
                out.append(secondsSince1970: expires / 1000)
            } else {
                out.append(millisecondsSince1970: expires)
            }
            out.append("Z\"")
            separator = ","
        }
        if let names = head.queryNames {
            names.pointee.begin()
            if let query = link.query { names.pointee.find(in: query) }
            names.pointee.find(in: wrapperQuery)
            if names.pointee.hasValues { names.pointee.write(after: separator, &texts, &notes, into: &out) }
        }
        if out.recordBytes > start { out.append(byte: UInt8(ascii: "}")) }
    }

    /// The times of the years 1 to 9999, in milliseconds since 1970.
    private static let timesOfYears: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Finds the query of a link that is not split.
    @inline(never)
    mutating func findQuery(of text: ByteView) {
        guard head?.queryNames != nil else { return }
        let mark = ByteScan.first(UInt8(ascii: "?"), or: UInt8(ascii: "#"), in: text, from: 0)
        let end = ByteScan.first(UInt8(ascii: "#"), in: text, from: mark)
        link.query = mark < end ? text.slice(mark &+ 1, end) : nil
    }

    /// Finds the query of the link of a request that is not read, such as an event that has expired.
    ///
    /// A link that is longer than any table accepts has none.
    mutating func findQuery(of request: UnsafePointer<RequestView>) {
        link.query = nil
        requested.wrapperQuery = .empty
        texts.reset()
        switch request.pointee.form {
        case .link where request.pointee.text.count > TableSource.LinkLimits.bytesBounds.upperBound: break
        case .link: findQuery(of: request.pointee.text)
        case .payload:
            let isTapped = request.pointee.tapped.kind != .unknown
            let opening = isTapped ? request.pointee.tapped : request.pointee.found
            requested.wrapperQuery = opening.wrapperQuery
            if opening.link.count <= TableSource.LinkLimits.bytesBounds.upperBound { findQuery(of: opening.link) }
        case .path, .route: break
        }
    }
}
