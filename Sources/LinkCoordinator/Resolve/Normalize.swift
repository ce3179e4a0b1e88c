package import ByteStorage

// Phase 1 for links: checks, splits, and decodes the parts of a link.
//
// The query is only counted here. It is split when it is first used.
extension Resolver {
    /// Normalizes a link and returns its path.
    ///
    /// The other parts of the link are kept in `link`, and the segments of its path in `segments`.
    ///
    /// A screened link is known to have no forbidden bytes. If enough bytes after the link are readable, it is split in
    /// place.
    package mutating func normalize(
        _ text: ByteView, isScreened: Bool = false, bytesAfter: Int = 0
    ) throws(Rejection) -> LinkPath {
        let text = bytesAfter >= WideScan.padding || text.count > tableData.maxBytes ? text : texts.padded(text)
        if text.count > tableData.maxBytes { throw Rejection(.budget, "bytes") }
        if !isScreened, let bad = ByteScan.firstForbidden(in: text) {
            throw Rejection(.badEncoding, "byte ", number: bad)
        }
        let start: Int
        let known = origins.find(text, table: tableData.serial)
        var authority = ByteView.empty
        if known >= 0 {
            let entry = origins.entry(known)
            link.block = tableData.blocks.at(Int(entry.pointee.block))
            link.scheme = text.slice(0, entry.pointee.schemeCount)
            link.schemeNumber = entry.pointee.schemeNumber
            if link.block.hostIsSegment {
                authority = text.slice(entry.pointee.schemeCount &+ 3, entry.pointee.count)
            } else {
                link.host = origins.host(known)
            }
            start = entry.pointee.count
        } else {
            do throws(Rejection) {
                (authority, start) = try readOrigin(text)
            } catch {
                findQuery(of: text)
                throw error
            }
        }
        if authority.isEmpty && !tableData.foldsCase && splitPlainPath(of: text, from: start) {
            try checkQueryBudget()
        } else {
            try splitAnyPath(of: text, authority: authority, from: start)
        }
        query.open(link.query, link.block)
        if !link.block.rewrites.isEmpty { rewrite() }
        return link.path
    }

    /// Splits a path of any form.
    @inline(never)
    private mutating func splitAnyPath(
        of text: ByteView, authority: ByteView, from start: Int
    ) throws(Rejection) {
        let path = Self.splitTail(text, from: start, into: &link)
        try checkBudget(authority: authority, path: path)
        try checkQueryBudget()
        link.path = try readSegments(authority: authority, path: path)
    }

    /// Stores the query and fragment and returns the path, which begins at `start`.
    private static func splitTail(_ text: ByteView, from start: Int, into link: inout NormalizedLink) -> ByteView {
        let stop = ByteScan.first(UInt8(ascii: "?"), or: UInt8(ascii: "#"), in: text, from: start)
        var end = text.count
        if stop < text.count {
            let hash =
                text.start[stop] == UInt8(ascii: "#")
                ? stop : ByteScan.first(UInt8(ascii: "#"), in: text, from: stop)
            if hash < text.count {
                link.fragment = text.slice(hash &+ 1, text.count)
                end = hash
            }
            if stop < end { link.query = text.slice(stop &+ 1, end) }
        }
        return text.slice(start, min(stop, end))
    }

    /// Reads the scheme and authority of a link whose origin is not cached.
    ///
    /// Returns the authority that becomes a segment, and the start of the path.
    ///
    /// See RouteTableReference, "Scheme" and "Authority".
    mutating func readOrigin(_ text: ByteView) throws(Rejection) -> (authority: ByteView, start: Int) {
        let colon = Self.schemeLength(text)
        if colon == 0 { throw Rejection(.scheme) }
        link.scheme = text.slice(0, colon)
        try findBlock()
        let afterColon = text.dropFirst(colon &+ 1)
        guard afterColon.hasPrefix(ByteView("//")) else {
            link.isRelative = afterColon.isEmpty || afterColon[0] != UInt8(ascii: "/")
            if !link.block.hostIsSegment { try matchHost(.empty, isWeb: WebURL.isWeb(link.scheme)) }
            return (.empty, colon &+ 1)
        }
        var end = colon &+ 3
        while end < text.count {
            let byte = text.start[end]
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            end &+= 1
        }
        let written = text.slice(colon &+ 3, end)
        let authority = try readAuthority(written)
        if authority.count == written.count {
            origins.insert(
                text.slice(0, end), host: link.host ?? .empty,
                entry: OriginCache.Entry(
                    block: Int32(link.block.pointer - tableData.blocks.baseAddress.unsafelyUnwrapped),
                    schemeNumber: link.schemeNumber, schemeCount: colon, table: tableData.serial))
        }
        return (link.host != nil ? .empty : authority, end)
    }

    /// Returns the length of the scheme before its colon (RFC 3986, section 3.1), or 0.
    package static func schemeLength(_ link: ByteView) -> Int {
        var index = 0
        while index < link.count {
            let byte = link.start[index]
            if (byte | 0x20) &- UInt8(ascii: "a") < 26 {
                index &+= 1
                continue
            }
            if index > 0 {
                if byte == UInt8(ascii: ":") { return index }
                if byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".")
                {
                    index &+= 1
                    continue
                }
            }
            return 0
        }
        return 0
    }

    private mutating func findBlock() throws(Rejection) {
        for candidate in tableData.schemes {
            let exact = tableData.blocks.at(Int(candidate.block)).schemesAreExact
            let same = exact ? candidate.text == link.scheme : ByteScan.equalFolded(candidate.text, link.scheme)
            if same {
                link.block = tableData.blocks.at(Int(candidate.block))
                link.schemeNumber = candidate.number < 0 ? nil : candidate.number
                return
            }
        }
        guard tableData.otherSchemes >= 0 else { throw Rejection(.scheme, link.scheme) }
        link.block = tableData.blocks.at(Int(tableData.otherSchemes))
    }

    /// Removes userinfo and port from an authority.
    ///
    /// With `host: authority`, it checks and stores the host.
    ///
    /// See RouteTableReference, "Authority".
    private mutating func readAuthority(_ written: ByteView) throws(Rejection) -> ByteView {
        var authority = written
        let isWeb = WebURL.isWeb(link.scheme)
        var at = authority.count
        while at > 0 && authority[at - 1] != UInt8(ascii: "@") { at -= 1 }
        if at > 0 {
            if isWeb { throw Rejection(.host, "userinfo") }
            notes.append(Note("userinfo dropped"))
            authority = authority.dropFirst(at)
        }
        guard let (name, port) = WebURL.splitPort(authority) else { throw Rejection(.host, "port") }
        if let port {
            let own: UInt16 = link.scheme.count == 5 ? 443 : 80
            link.port = isWeb && port == own ? nil : port
        }
        if link.block.hostIsSegment { return name }
        guard let host = WebURL.normalHost(lowered: texts.folded(name)) else { throw Rejection(.host, "syntax") }
        try matchHost(host, isWeb: isWeb)
        return name
    }

    /// Checks a host against the list of the block and stores it.
    ///
    /// In `http` and `https` links an empty host is rejected, because a browser reads the next segment as the host.
    private mutating func matchHost(_ host: ByteView, isWeb: Bool) throws(Rejection) {
        link.host = host
        if isWeb && host.isEmpty { throw Rejection(.host, "missing") }
        for rule in link.block.hosts where rule.matches(host: host, port: link.port) { return }
        throw Rejection(.host, "unlisted")
    }

    /// Counts the undecoded segments and query items and checks their limits.
    ///
    /// See RouteTableReference, "Limits".
    private mutating func checkBudget(authority: ByteView, path: ByteView) throws(Rejection) {
        var raw = authority.isEmpty ? 0 : 1
        // A path of fewer bytes than the limit cannot have more segments than the limit. Most links need no counting.
        if path.count &+ 1 < tableData.maxSegments {
            raw = 0
        } else if path.count > 1 || (path.count == 1 && path[0] != UInt8(ascii: "/")) {
            raw &+= ByteScan.count(of: UInt8(ascii: "/"), in: path) &+ 1
            if path[0] == UInt8(ascii: "/") { raw &-= 1 }
            if path[path.count &- 1] == UInt8(ascii: "/") { raw &-= 1 }
        }
        if raw > tableData.maxSegments { throw Rejection(.budget, "segments") }
    }

    @inline(__always)
    private mutating func checkQueryBudget() throws(Rejection) {
        guard let query = link.query, query.count &+ 1 > tableData.maxQueryItems else { return }
        try countQueryItems(query)
    }

    @inline(never)
    private mutating func countQueryItems(_ query: ByteView) throws(Rejection) {
        var count = 1
        for separator in link.block.separators { count &+= ByteScan.count(of: separator, in: query) }
        if count > tableData.maxQueryItems { throw Rejection(.budget, "query items") }
    }

    /// Splits the undecoded path, decodes each segment once, and checks it.
    ///
    /// Returns the path. It begins with the segments that were added before.
    ///
    /// See RouteTableReference, "Path segments".
    mutating func readSegments(authority: ByteView, path: ByteView) throws(Rejection) -> LinkPath {
        var read = LinkPath()
        let block = link.block
        if !authority.isEmpty { try addSegment(authority, isPlain: Self.isPlain(authority)) }
        var at = path.count > 0 && path[0] == UInt8(ascii: "/") ? 1 : 0
        var hadEmpty = false
        let resets = block.emptySegments == .reset
        while at < path.count {
            var stop = ByteScan.segmentStop(in: path, from: at)
            var plain = true
            if stop < path.count && path.start[stop] != UInt8(ascii: "/") {
                plain = false
                stop = ByteScan.first(UInt8(ascii: "/"), in: path, from: stop)
            }
            if stop == at {
                if block.emptySegments == .reject {
                    throw Rejection(.emptySegment, "segment ", number: segments.count)
                }
                hadEmpty = true
                if resets { read.resetAt = segments.count }
            } else {
                try addSegment(path.slice(at, stop), isPlain: plain)
            }
            at = stop &+ 1
        }
        // The single slash of `/` is leading, unless the authority is a segment that it follows.
        let least = authority.isEmpty ? 1 : 0
        if resets && path.count > least && path[path.count &- 1] == UInt8(ascii: "/") {
            hadEmpty = true
            read.resetAt = segments.count
        }
        if hadEmpty { notes.append(resets ? Note("empty segments reset") : Note("empty segments collapsed")) }
        return read
    }

    private static func isPlain(_ text: ByteView) -> Bool {
        !text.hasNonASCII && text.firstIndex(of: UInt8(ascii: "%")) == nil
    }

    /// Decodes, checks, and adds one segment.
    mutating func addSegment(_ raw: ByteView, isPlain: Bool) throws(Rejection) {
        let text = isPlain ? raw : try decodeSegment(raw)
        if text.start[0] == UInt8(ascii: ".") && isDots(text) {
            throw Rejection(.dotSegment, "segment ", number: segments.count)
        }
        let key = tableData.foldsCase ? texts.folded(text) : text
        segments.append(Segment(text: text, key: key))
    }

    mutating func isDots(_ text: ByteView) -> Bool { text.equals(".") || text.equals("..") }

    @inline(never)
    private mutating func decodeSegment(_ raw: ByteView) throws(Rejection) -> ByteView {
        texts.begin()
        let decodes = PercentDecoding.decode(raw, plusIsSpace: false, into: &texts.arena)
        let text = texts.finish()
        guard decodes, PercentDecoding.isClean(text, invisiblesAllowed: false) else {
            throw Rejection(.badEncoding, "segment ", number: segments.count)
        }
        return texts.normalForm(text)
    }

    /// Applies the rewrites of the block, which remove known prefixes.
    ///
    /// See RouteTableReference, "Rewrites".
    private mutating func rewrite() {
        for number in 0..<link.block.rewrites.count {
            let rule = link.block.rewrites.at(number)
            if fits(rule) { removePrefix(rule) }
        }
    }

    @inline(__always)
    private mutating func fits(_ rule: Ref<CompiledRewrite>) -> Bool {
        let length = rule.segments.count
        if segments.count &- link.path.first < length { return false }
        let matchers = rule.segments.baseAddress.unsafelyUnwrapped
        let first = segments.base + link.path.first
        for index in 0..<length where !Ref(matchers + index).matches(Ref(first + index)) { return false }
        return true
    }

    @inline(never)
    private mutating func removePrefix(_ rule: Ref<CompiledRewrite>) {
        if rule.captured >= 0 {
            let index = Int(rule.captured)
            let value = captured(rule.segments.at(index), in: segments[link.path.first &+ index])
            rewrites.append(RewriteValue(name: rule.name, value: value))
            notes.append(Note("rewrite:", rule.nameText, "=", value))
        } else {
            notes.append(Note("rewrite:", rule.prefixText))
        }
        link.path.first &+= rule.segments.count
        if let resetAt = link.path.resetAt { link.path.resetAt = max(resetAt, link.path.first) }
    }
}

extension CompiledHostRule {
    /// Returns a Boolean value that indicates whether the rule matches a host.
    ///
    /// The host is lowercase.
    func matches(host: ByteView, port: UInt16?) -> Bool {
        switch kind {
        case .any: true
        case .empty: host.isEmpty
        case .exact: (self.port < 0 || port.map { self.port == Int32($0) } ?? false) && host == text
        case .suffix:
            host.count > text.count &+ 1 && host.start[host.count &- text.count &- 1] == UInt8(ascii: ".")
                && host.hasSuffix(text)
        }
    }
}

// Splits plain paths, which nearly all links have: nonempty ASCII segments without escapes that do not begin with a
// dot.
extension Resolver {
    /// Splits the path that begins at `start` if it is plain, and stores the query and fragment.
    ///
    /// Returns `false` if a part must be decoded, checked, or noted. No part is stored in that case, and the caller
    /// falls back to the slow path. `text` must be padded.
    mutating func splitPlainPath(of text: ByteView, from start: Int) -> Bool {
        guard let stop = splitPlainSegments(text.start + start, text.end, text.lease) else {
            segments.removeAll()
            return false
        }
        if stop < text.end { Self.splitPlainTail(stop, text.end, text.lease, into: &link) }
        return true
    }

    /// Stores the query, which begins at `stop` if there is one, and the fragment.
    @inline(__always)
    private static func splitPlainTail(
        _ stop: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ lease: ViewLease, into link: inout NormalizedLink
    ) {
        let isQuery = stop.pointee == UInt8(ascii: "?")
        let hash =
            isQuery
            ? WideScan.first(from: stop + 1, to: end) { WideBytes.equal(WideBytes.all(UInt8(ascii: "#")), in: $0) }
            : stop
        if isQuery { link.query = ByteView(start: stop + 1, count: hash - stop - 1, lease: lease) }
        if hash < end { link.fragment = ByteView(start: hash + 1, count: end - hash - 1, lease: lease) }
    }

    /// Adds the segments from `start` to `?`, `#`, or the end, and returns that position, or nil if a segment is not
    /// plain.
    @inline(__always)
    mutating func splitPlainSegments(
        _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ lease: ViewLease
    ) -> UnsafePointer<UInt8>? {
        var at = start
        if at < end && at.pointee == UInt8(ascii: "/") { at += 1 }
        while at < end {
            let stop = Self.segmentEnd(from: at, to: end)
            let byte = stop < end ? stop.pointee : UInt8(ascii: "?")
            let isEnd = byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
            if stop == at { return isEnd ? endPlain(at, from: start) : nil }
            let text = ByteView(start: at, count: stop - at, lease: lease)
            if at.pointee == UInt8(ascii: ".") || segments.count >= tableData.maxSegments { return nil }
            segments.append(Segment(plain: text, head: WideScan.head(at, text.count)))
            if byte != UInt8(ascii: "/") { return isEnd ? stop : nil }
            at = stop + 1
        }
        return endPlain(at, from: start)
    }

    /// Ends a path that ends with a slash or has no segments.
    ///
    /// Such a path is plain unless empty segments have a meaning.
    @inline(__always)
    private mutating func endPlain(
        _ stop: UnsafePointer<UInt8>, from start: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8>? {
        link.block.emptySegments == .reset && stop > start ? nil : stop
    }

    /// Returns the position of the first slash, `?`, `#`, percent sign, or byte above 0x7F, or `end`.
    @inline(__always)
    private static func segmentEnd(
        from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        var at = start
        while true {
            at = WideScan.first(from: at, to: end) { bytes in
                // `/` and `?` differ in one bit. `#`, `%`, `!`, and `'` differ in two bits, which the mask clears.
                let slashes = WideBytes.equal(WideBytes.all(0x3F), in: bytes | WideBytes.all(0x10))
                let marks = WideBytes.equal(WideBytes.all(0x21), in: bytes & WideBytes.all(0xF9))
                return slashes | marks | WideBytes.highs(in: bytes)
            }
            if at == end || (at.pointee != UInt8(ascii: "!") && at.pointee != UInt8(ascii: "'")) { return at }
            at += 1
        }
    }
}

/// The result of phase 1: the parts of a request that the other phases read.
///
/// Its texts are valid as long as the request. The segments of its path are in the resolver.
package struct NormalizedLink: BitwiseCopyable {
    /// The link block that reads the link.
    package var block: Ref<CompiledLinkBlock>
    /// The scheme of the link.
    package var scheme: ByteView = .empty
    /// The number of the scheme in the table if a pattern mentions it.
    package var schemeNumber: Int32?
    /// The normalized host, or nil if the link has none that patterns can match.
    package var host: ByteView?
    /// The port, if it is not the scheme's own port.
    package var port: UInt16?
    /// The path after rewrites.
    package var path = LinkPath()
    /// A Boolean value that indicates whether the path continues the path of the device.
    var isRelative = false
    /// The undecoded query.
    var query: ByteView?
    /// The undecoded fragment.
    package var fragment: ByteView?

    init(block: Ref<CompiledLinkBlock>) { self.block = block }

    /// Removes the parts of the last link.
    @inline(__always)
    mutating func reset(block: Ref<CompiledLinkBlock>) {
        self.block = block
        scheme = .empty
        schemeNumber = nil
        host = nil
        port = nil
        path = LinkPath()
        isRelative = false
        query = nil
        fragment = nil
    }
}

/// A path, stored as the position of its first segment in the resolver's list of segments.
package struct LinkPath: BitwiseCopyable {
    /// The position of the first segment, in four bytes to be passed in a register.
    private var packedFirst: Int32
    /// The position in `resetAt`, or -1.
    private var packedReset: Int32

    /// Creates a path.
    init(first: Int = 0, resetAt: Int? = nil) {
        packedFirst = Int32(truncatingIfNeeded: first)
        packedReset = Int32(truncatingIfNeeded: resetAt ?? -1)
    }

    /// The position of the first segment.
    ///
    /// The segments before it belong to rewrites, or to the path before a redirect.
    package var first: Int {
        @inline(__always)
        get { Int(packedFirst) }
        @inline(__always)
        set { packedFirst = Int32(truncatingIfNeeded: newValue) }
    }

    /// The position of the segment after the last empty one if empty segments reset a coordinator path.
    var resetAt: Int? {
        @inline(__always)
        get { packedReset < 0 ? nil : Int(packedReset) }
        @inline(__always)
        set { packedReset = Int32(truncatingIfNeeded: newValue ?? -1) }
    }
}

/// The value that a rewrite captured.
struct RewriteValue {
    var name: Int32
    var value: ByteView
}

/// A decoded segment of the path.
package struct Segment: BitwiseCopyable {
    /// The text, decoded once, in NFC.
    package var text: ByteView
    /// The text to compare with literals, affixes, and enumerations.
    ///
    /// It is folded if the table folds case.
    var key: ByteView
    /// The first eight bytes of `key` as a word, padded with zeros.
    var head: UInt64

    init(text: ByteView, key: ByteView) {
        self.text = text
        self.key = key
        head = ByteScan.head(of: key)
    }

    /// Creates a segment whose text is its key, with the first word of the text.
    @inline(__always)
    init(plain text: ByteView, head: UInt64) {
        self.text = text
        key = text
        self.head = head
    }
}
