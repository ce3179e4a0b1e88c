package import ByteStorage

// Phase 1 for links: checks, splits, and decodes the parts of a link.
//
// The query is only counted here. It is split when it is first used.
extension Resolver {
    /// Splits a link and stores its parts in the resolver.
    ///
    /// A screened link is known to have no forbidden bytes. If enough bytes after the link are readable, it is split in
    /// place.
    package mutating func normalize(
        _ text: ByteView, isScreened: Bool = false, bytesBehind: Int = 0
    ) throws(Rejection) {
        let link = bytesBehind >= WideScan.behind || text.count > image.maxBytes ? text : texts.padded(text)
        if link.count > image.maxBytes { throw Rejection(.budget, "bytes") }
        if !isScreened, let bad = ByteScan.firstForbidden(in: link) {
            throw Rejection(.badEncoding, "byte ", number: bad)
        }
        let start: Int
        let known = origins.find(link, table: image.serial)
        var authority = ByteView.empty
        if known >= 0 {
            let entry = origins.entry(known)
            block = image.blocks.at(Int(entry.pointee.block))
            scheme = link.slice(0, entry.pointee.schemeCount)
            schemeNumber = entry.pointee.schemeNumber
            host = origins.host(known)
            hasHost = !block.hostIsSegment
            if !hasHost { authority = link.slice(entry.pointee.schemeCount &+ 3, entry.pointee.count) }
            start = entry.pointee.count
        } else {
            (authority, start) = try readOrigin(link)
        }
        if authority.isEmpty && !image.foldsCase && splitPlainPath(of: link, from: start) {
            if hasQuery && query.count &+ 1 > image.maxQueryItems { try checkQueryBudget() }
        } else {
            try splitAnyPath(of: link, authority: authority, from: start)
        }
        if !block.rewrites.isEmpty { rewrite() }
    }

    /// Splits a path of any form.
    @inline(never)
    private mutating func splitAnyPath(
        of link: ByteView, authority: ByteView, from start: Int
    ) throws(Rejection) {
        let path = splitTail(link, from: start)
        try checkBudget(authority: authority, path: path)
        try readSegments(authority: authority, path: path)
    }

    /// Stores the query and fragment and returns the path, which begins at `start`.
    private mutating func splitTail(_ link: ByteView, from start: Int) -> ByteView {
        let stop = ByteScan.first(UInt8(ascii: "?"), or: UInt8(ascii: "#"), in: link, from: start)
        var end = link.count
        if stop < link.count {
            let hash =
                link.start[stop] == UInt8(ascii: "#")
                ? stop : ByteScan.first(UInt8(ascii: "#"), in: link, from: stop)
            if hash < link.count {
                hasFragment = true
                fragment = link.slice(hash &+ 1, link.count)
                end = hash
            }
            if stop < end {
                hasQuery = true
                query = link.slice(stop &+ 1, end)
            }
        }
        return link.slice(start, min(stop, end))
    }

    /// Reads the scheme and authority of a link whose origin is not cached.
    ///
    /// Returns the authority that becomes a segment, and the start of the path.
    ///
    /// See RouteTableReference, "Scheme" and "Authority".
    mutating func readOrigin(_ link: ByteView) throws(Rejection) -> (authority: ByteView, start: Int) {
        let colon = Self.schemeLength(link)
        if colon == 0 { throw Rejection(.scheme) }
        scheme = link.slice(0, colon)
        try findBlock()
        let afterColon = link.dropFirst(colon &+ 1)
        guard afterColon.hasPrefix(ByteView("//")) else {
            isRelative = afterColon.isEmpty || afterColon[0] != UInt8(ascii: "/")
            hasHost = !block.hostIsSegment
            if hasHost { try matchHost(isWeb: WebURL.isWeb(scheme)) }
            return (.empty, colon &+ 1)
        }
        var end = colon &+ 3
        while end < link.count {
            let byte = link.start[end]
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { break }
            end &+= 1
        }
        let written = link.slice(colon &+ 3, end)
        let authority = try readAuthority(written)
        if authority.count == written.count {
            origins.keep(
                link.slice(0, end), host: host,
                entry: OriginCache.Entry(
                    block: Int32(block.pointer - image.blocks.baseAddress.unsafelyUnwrapped),
                    schemeNumber: schemeNumber, schemeCount: colon, table: image.serial))
        }
        return (hasHost ? .empty : authority, end)
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
        for candidate in image.schemes {
            let exact = image.blocks.at(Int(candidate.block)).schemesAreExact
            let same = exact ? candidate.text == scheme : ByteScan.equalFolded(candidate.text, scheme)
            if same {
                block = image.blocks.at(Int(candidate.block))
                schemeNumber = candidate.number
                return
            }
        }
        guard image.otherSchemes >= 0 else { throw Rejection(.scheme, scheme) }
        block = image.blocks.at(Int(image.otherSchemes))
    }

    /// Removes userinfo and port from an authority.
    ///
    /// With `host: authority`, it checks and stores the host.
    ///
    /// See RouteTableReference, "Authority".
    private mutating func readAuthority(_ written: ByteView) throws(Rejection) -> ByteView {
        var authority = written
        let isWeb = WebURL.isWeb(scheme)
        var at = authority.count
        while at > 0 && authority[at - 1] != UInt8(ascii: "@") { at -= 1 }
        if at > 0 {
            if isWeb { throw Rejection(.host, "userinfo") }
            notes.append(Note("userinfo dropped"))
            authority = authority.dropFirst(at)
        }
        guard let (name, portNumber) = WebURL.splitPort(authority) else { throw Rejection(.host, "port") }
        if let portNumber {
            let own: UInt16 = scheme.count == 5 ? 443 : 80
            port = isWeb && portNumber == own ? -1 : Int32(portNumber)
        }
        hasHost = !block.hostIsSegment
        guard hasHost else { return name }
        guard let normal = WebURL.normalHost(lowered: texts.folded(name)) else { throw Rejection(.host, "syntax") }
        host = normal
        try matchHost(isWeb: isWeb)
        return name
    }

    /// Checks the host against the list of the block.
    ///
    /// In `http` and `https` links an empty host is rejected, because a browser reads the next segment as the host.
    private mutating func matchHost(isWeb: Bool) throws(Rejection) {
        if isWeb && host.isEmpty { throw Rejection(.host, "missing") }
        for rule in block.hosts where rule.matches(host: host, port: port) { return }
        throw Rejection(.host, "unlisted")
    }

    /// Counts the undecoded segments and query pieces and checks their limits.
    ///
    /// See RouteTableReference, "Limits".
    private mutating func checkBudget(authority: ByteView, path: ByteView) throws(Rejection) {
        var raw = authority.isEmpty ? 0 : 1
        // A path of fewer bytes than the limit cannot have more segments than the limit. Most links need no counting.
        if path.count &+ 1 < image.maxSegments {
            raw = 0
        } else if path.count > 1 || (path.count == 1 && path[0] != UInt8(ascii: "/")) {
            raw &+= ByteScan.count(of: UInt8(ascii: "/"), in: path) &+ 1
            if path[0] == UInt8(ascii: "/") { raw &-= 1 }
            if path[path.count &- 1] == UInt8(ascii: "/") { raw &-= 1 }
        }
        if raw > image.maxSegments { throw Rejection(.budget, "segments") }
        if hasQuery && query.count &+ 1 > image.maxQueryItems { try checkQueryBudget() }
    }

    @inline(never)
    private mutating func checkQueryBudget() throws(Rejection) {
        var count = 1
        for separator in block.separators { count &+= ByteScan.count(of: separator, in: query) }
        if count > image.maxQueryItems { throw Rejection(.budget, "query items") }
    }

    /// Splits the undecoded path, decodes each segment once, and checks it.
    ///
    /// See RouteTableReference, "Path segments".
    mutating func readSegments(authority: ByteView, path: ByteView) throws(Rejection) {
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
                if resets { resetAt = segments.count }
            } else {
                try addSegment(path.slice(at, stop), isPlain: plain)
            }
            at = stop &+ 1
        }
        // The single slash of `/` is leading, unless the authority is a segment that it follows.
        let least = authority.isEmpty ? 1 : 0
        if resets && path.count > least && path[path.count &- 1] == UInt8(ascii: "/") {
            hadEmpty = true
            resetAt = segments.count
        }
        if hadEmpty { notes.append(resets ? Note("empty segments reset") : Note("empty segments collapsed")) }
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
        let key = image.foldsCase ? texts.folded(text) : text
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
        for number in 0..<block.rewrites.count {
            let rule = block.rewrites.at(number)
            if fits(rule) { takeOff(rule) }
        }
    }

    @inline(__always)
    private mutating func fits(_ rule: Ref<CompiledRewrite>) -> Bool {
        let length = rule.segments.count
        if segments.count &- firstSegment < length { return false }
        let matchers = rule.segments.baseAddress.unsafelyUnwrapped
        let first = segments.base + firstSegment
        for index in 0..<length where !Ref(matchers + index).matches(Ref(first + index)) { return false }
        return true
    }

    @inline(never)
    private mutating func takeOff(_ rule: Ref<CompiledRewrite>) {
        if rule.captured >= 0 {
            let index = Int(rule.captured)
            let value = captured(rule.segments.at(index), in: segments[firstSegment &+ index])
            rewrites.append(RewriteValue(name: rule.name, value: value))
            notes.append(Note("rewrite:", rule.nameText, "=", value))
        } else {
            notes.append(Note("rewrite:", rule.prefixText))
        }
        firstSegment &+= rule.segments.count
        if resetAt >= 0 { resetAt = max(resetAt, firstSegment) }
    }
}

extension CompiledHostRule {
    /// Returns a Boolean value that indicates whether the rule matches a host.
    ///
    /// The host is lowercase, and `port` is -1 for none.
    func matches(host: ByteView, port: Int32) -> Bool {
        switch kind {
        case .any: true
        case .empty: host.isEmpty
        case .exact: (self.port < 0 || self.port == port) && host == text
        case .suffix:
            host.count > text.count &+ 1 && host.start[host.count &- text.count &- 1] == UInt8(ascii: ".")
                && host.hasSuffix(text)
        }
    }
}
