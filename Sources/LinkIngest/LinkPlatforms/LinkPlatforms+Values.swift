internal import LinkCoordinator
internal import ByteStorage

extension LinkPlatforms {
    /// Returns the link in the first item of the query with a name and a value, or nil if it has none.
    ///
    /// The value is decoded once, and `+` stays a plus sign.
    func value(
        of name: ByteView, in url: PlatformURL, accepts: LinkPlatformSource.Schemes, origin: ByteView, _ limit: Int,
        _ notes: inout UnwrappedLink.Notes, _ arena: inout OutputArena
    ) -> ByteView? {
        var items = QueryItems(url.query)
        while let item = items.next() {
            guard !item.value.isEmpty, QueryItems.name(item.name, is: name) else { continue }
            var value = item.value
            if value.firstIndex(of: UInt8(ascii: "%")) != nil {
                arena.begin()
                let isDecoded = PercentDecoding.decode(value, plusIsSpace: false, into: &arena)
                if !isDecoded || arena.overflowed {
                    arena.abandon()
                    notes.insert(isDecoded ? .tooLong : .malformed)
                    return nil
                }
                value = arena.finish()
            }
            guard let link = link(value, accepts: accepts, origin: origin, limit, &notes, &arena) else { return nil }
            if Self.isCut(item, hasFragment: !url.fragment.isEmpty) { notes.insert(.cut) }
            return link
        }
        return nil
    }

    /// Returns a value as a link, or nil if it is none.
    ///
    /// A value without a scheme is appended to the origin of the app's links.
    func link(
        _ value: ByteView, accepts: LinkPlatformSource.Schemes, origin: ByteView, _ limit: Int,
        _ notes: inout UnwrappedLink.Notes, _ arena: inout OutputArena
    ) -> ByteView? {
        guard Self.isLink(value) else {
            if origin.isEmpty {
                notes.insert(.noScheme)
                return nil
            }
            return joined(origin, path: value, limit, &notes, &arena)
        }
        let scheme = value.slice(0, PlatformURL.schemeLength(value))
        let isWeb = scheme.equalsFoldingCase("https") || scheme.equalsFoldingCase("http")
        guard accepts.contains(isWeb: isWeb) else {
            notes.insert(.scheme)
            return nil
        }
        return value
    }

    /// Returns a Boolean value that indicates whether a value is a link: a scheme, a colon, and a slash.
    ///
    /// Without the slash, an identifier such as `product:42` would be a link.
    static func isLink(_ value: ByteView) -> Bool {
        let length = PlatformURL.schemeLength(value)
        return length > 0 && length &+ 1 < value.count && value.start[length &+ 1] == UInt8(ascii: "/")
    }

    /// Returns a Boolean value that indicates whether a value may lack its end, because it was written without escapes.
    private static func isCut(_ item: QueryItems.Item, hasFragment: Bool) -> Bool {
        guard isLink(item.value) else { return false }
        if item.isFollowed { return item.value.firstIndex(of: UInt8(ascii: "?")) != nil }
        return hasFragment
    }

    /// Returns a Boolean value that indicates whether a parameter of a query has a link that may lack its end.
    ///
    /// Such a link ends at a separator that follows a second question mark, or at a fragment, and most links have
    /// neither.
    @inline(__always)
    static func hasCutLink(_ query: ByteView, hasFragment: Bool) -> Bool {
        if query.isEmpty { return false }
        let mark = ByteScan.first(UInt8(ascii: "?"), in: query, from: 0)
        return (mark < query.count || hasFragment) && hasCutItem(query, hasFragment: hasFragment)
    }

    @inline(never)
    private static func hasCutItem(_ query: ByteView, hasFragment: Bool) -> Bool {
        var items = QueryItems(query)
        while let item = items.next() {
            if isCut(item, hasFragment: hasFragment) { return true }
        }
        return false
    }

    /// Returns a Boolean value that indicates whether a parameter of any link has a link that may lack its end.
    @inline(never)
    static func hasCutLink(_ link: ByteView) -> Bool {
        let mark = ByteScan.first(UInt8(ascii: "?"), or: UInt8(ascii: "#"), in: link, from: 0)
        let hash = ByteScan.first(UInt8(ascii: "#"), in: link, from: mark)
        if mark == hash { return false }
        return hasCutLink(link.slice(mark &+ 1, hash), hasFragment: hash < link.count)
    }

    // MARK: - Rewriting

    /// Returns a link without the parts that belong to the platform, at the origin of the app's links if there is one.
    func rewritten(
        _ url: PlatformURL, _ rule: LinkPlatformImage.Rule, _ limit: Int, _ notes: inout UnwrappedLink.Notes,
        _ arena: inout OutputArena
    ) -> ByteView? {
        let prefix = rule.prefix
        var path = url.path
        let isBelow =
            path.count == prefix.count || (path.count > prefix.count && path.start[prefix.count] == UInt8(ascii: "/"))
        if isBelow && path.hasPrefix(prefix) { path = path.dropFirst(prefix.count) }
        let origin = rule.origin
        let start = origin.isEmpty ? url.origin : origin
        guard start.count &+ url.text.count &- url.origin.count &+ 1 <= limit || origin.isEmpty else {
            notes.insert(.tooLong)
            return nil
        }
        arena.begin()
        append(start, path: path, isOwn: origin.isEmpty, to: &arena)
        var separator = UInt8(ascii: "?")
        var items = QueryItems(url.query)
        while let item = items.next() {
            if isStripped(item.name, rule) { continue }
            arena.append(byte: separator)
            arena.append(item.text)
            separator = UInt8(ascii: "&")
        }
        arena.append(url.fragment)
        if arena.overflowed {
            arena.abandon()
            notes.insert(.tooLong)
            return nil
        }
        return arena.finish()
    }

    /// Returns a Boolean value that indicates whether an item belongs to the platform, by its name or the name's start.
    private func isStripped(_ name: ByteView, _ rule: LinkPlatformImage.Rule) -> Bool {
        for known in rule.strip where QueryItems.name(name, is: known.name, orBegins: known.isPrefix) { return true }
        return false
    }

    /// Returns a path at an origin.
    private func joined(
        _ origin: ByteView, path: ByteView, _ limit: Int, _ notes: inout UnwrappedLink.Notes,
        _ arena: inout OutputArena
    ) -> ByteView? {
        guard origin.count &+ path.count &+ 1 <= limit else {
            notes.insert(.tooLong)
            return nil
        }
        arena.begin()
        append(origin, path: path, isOwn: false, to: &arena)
        if arena.overflowed {
            arena.abandon()
            notes.insert(.tooLong)
            return nil
        }
        return arena.finish()
    }

    /// Appends an origin and a path.
    ///
    /// After an origin of the table, slashes at the start of the path become one, or none after `scheme://`, so that
    /// the path can never be read as another host.
    private func append(_ origin: ByteView, path: ByteView, isOwn: Bool, to arena: inout OutputArena) {
        arena.append(origin)
        var path = path
        if !isOwn {
            var slashes = 0
            while slashes < path.count, path.start[slashes] == UInt8(ascii: "/") { slashes &+= 1 }
            path = path.dropFirst(slashes)
            let isBare = !origin.isEmpty && origin[origin.count &- 1] == UInt8(ascii: "/")
            if !isBare && !path.isEmpty { arena.append(byte: UInt8(ascii: "/")) }
        }
        arena.append(path)
    }
}
