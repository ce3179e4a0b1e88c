internal import LinkCoordinator
package import ByteStorage
package import ShortLinks

/// The rules that unwrap the links of link platforms without a network.
///
/// It is compiled from a file and never changes, so threads share it. The article LinkPlatforms describes the rules.
package final class LinkPlatforms: @unchecked Sendable {
    // Unchecked because the memory of the image is written before the initializer returns, and never again.

    /// The maximum number of times that a link is taken out of another one.
    ///
    /// A click-tracking wrapper, a platform's long link, and the app's own link with the platform's parameters make
    /// three.
    package static let maxSteps = 3

    /// The maximum length of a link unless a table has another limit.
    package static let defaultLimit = 8192

    /// The largest length of a link that a route table accepts.
    ///
    /// A link that a table accepts must be read by the rules, or it would open instead of its destination.
    package static let mostBytes = Int(TableSource.LinkLimits.bytesBounds.upperBound)

    /// The maximum number of query items of a link that a rule reads, which is the largest limit of a route table.
    package static let maxQueryItems = 1024

    /// The compiled form.
    let image: LinkPlatformImage
    private let memory: TableStorage

    /// The rules of a file without platforms.
    static let none = LinkPlatforms(LinkPlatformReader())

    init(_ reader: LinkPlatformReader) {
        image = reader.image
        memory = reader.memory
    }

    /// Returns the id of the platform whose rule was applied at a step, in `0 ..< link.stepCount`, or an empty view if
    /// the file of short links has the link.
    ///
    /// The view is valid as long as the table.
    package func platform(of link: UnwrappedLink, step: Int) -> ByteView {
        let number = Int(link.platforms[step])
        return number < 0 ? .empty : image.platforms[number]
    }

    /// Returns the name of the parameter from which a step took the link, or nil if it took none.
    ///
    /// The view is valid as long as the table.
    package func parameter(of link: UnwrappedLink, step: Int) -> ByteView? {
        let number = Int(link.parameters[step])
        return number < 0 ? nil : image.parameters[number].name
    }

    /// Returns the destination of a link, as far as the link itself contains it.
    ///
    /// The function reads any bytes and never uses a network. A link is its own destination if no rule reads it, if it
    /// is longer than `limit`, or if it contains a byte that no link may have.
    ///
    /// - Parameters:
    ///   - link: The link.
    ///   - device: The class of the device, for parameters that only one platform uses.
    ///   - limit: The maximum length of a link.
    ///   - shortLinks: The file with the destinations of short links, or nil.
    ///   - arena: The arena that receives decoded links, as records of at most `limit` bytes each. It has no open
    ///     record.
    package func destination(
        of link: ByteView, device: DeviceClass = .unknown, limit: Int = defaultLimit,
        shortLinks: ShortLinkFile? = nil, into arena: inout OutputArena
    ) -> UnwrappedLink {
        var found = UnwrappedLink(link)
        if link.count > limit { return found }
        if let url = PlatformURL(link) {
            if mayApply(to: url, shortLinks) { follow(link, device, limit, shortLinks, &found, &arena) }
            if found.stepCount == 0 {
                if Self.hasCutLink(url.query, hasFragment: !url.fragment.isEmpty) { found.notes.insert(.cut) }
                return found
            }
        }
        if found.kind == .link || found.kind == .itself, Self.hasCutLink(found.link) { found.notes.insert(.cut) }
        return found
    }

    /// Applies rules until none applies, or one of them ends the search.
    func follow(
        _ link: ByteView, _ device: DeviceClass, _ limit: Int, _ shortLinks: ShortLinkFile? = nil,
        _ found: inout UnwrappedLink, _ arena: inout OutputArena
    ) {
        var link = link
        // A chain of two short links counts as one step. `short-links build` makes no longer ones.
        var uncounted = 0
        while let url = PlatformURL(link), mayApply(to: url, shortLinks), isReadable(url) {
            var next = apply(to: url, device, limit, &found, &arena)
            var answer: ShortLinkFile.Answer?
            if next == nil || next?.kind == .needsResolution {
                answer = shortLinks?.answer(to: url)
                if let found = answer, found.destination.count <= limit {
                    next = Step(kind: .link, link: found.destination, platform: -1)
                } else {
                    answer = nil
                }
            }
            guard let step = next else { break }
            if answer != nil, uncounted == 0, found.stepCount > 0, found.shortLinks[found.stepCount - 1] != nil {
                uncounted = 1
            } else if step.kind == .link && found.stepCount - uncounted >= Self.maxSteps {
                found.kind = .needsResolution
                found.notes.insert(.tooDeep)
                // The decision is made again from the short links in its notes, so it needs the last one as well.
                if answer != nil { found.add(platform: -1, shortLink: answer, of: url.query) }
                return
            }
            found.add(platform: step.platform, parameter: step.parameter, shortLink: answer, of: url.query)
            if step.kind == .itself { break }
            found.kind = step.kind
            if step.kind != .link { return }
            link = step.link
            found.link = link
        }
    }

    /// The result of a rule.
    struct Step {
        var kind: UnwrappedLink.Kind
        var link: ByteView
        /// The number of the platform, or -1 for the file of short links.
        var platform: Int
        var parameter = -1
    }

    /// Returns a Boolean value that indicates whether a rule may apply, which is `false` for most links.
    @inline(__always)
    func mayApply(to url: PlatformURL) -> Bool {
        image.endings.mayContain(url.host) || (!url.query.isEmpty && hasAnyHostMark(url.query))
    }

    @inline(__always)
    private func mayApply(to url: PlatformURL, _ shortLinks: ShortLinkFile?) -> Bool {
        mayApply(to: url) || shortLinks?.mayHave(host: url.host) == true
    }

    private func hasAnyHostMark(_ query: ByteView) -> Bool {
        var start = 0
        var items = 0
        while start < query.count && items < Self.maxQueryItems {
            items &+= 1
            if image.markStarts.contains(query.start[start]) {
                var rest = WrittenQuery(query.dropFirst(start))
                if let item = rest.next(), hasName(item.name, image.anyHostMarks) { return true }
            }
            start = ByteScan.first(UInt8(ascii: "&"), in: query, from: start) &+ 1
        }
        return false
    }

    private func hasName(_ name: ByteView, _ names: UnsafeBufferPointer<ByteView>) -> Bool {
        for known in names where WrittenQuery.name(name, is: known) { return true }
        return false
    }

    /// Returns a Boolean value that indicates whether a route table may accept the bytes and the length of a link.
    private func isReadable(_ url: PlatformURL) -> Bool {
        ByteScan.count(of: UInt8(ascii: "&"), in: url.query) < Self.maxQueryItems
            && ByteScan.firstForbidden(in: url.text) == nil
    }

    /// Returns the result of the first rule that applies, or nil.
    private func apply(
        to url: PlatformURL, _ device: DeviceClass, _ limit: Int, _ found: inout UnwrappedLink,
        _ arena: inout OutputArena
    ) -> Step? {
        for rule in image.rules where matches(rule, url) {
            for parameter in rule.unwrap where counts(parameter, device) {
                guard
                    let link = value(
                        of: parameter.name, in: url, accepts: rule.accepts, origin: rule.origin, limit,
                        &found.notes, &arena)
                else {
                    // The destination is too long for any table, so nothing else is opened in its place.
                    if !found.notes.contains(.tooLong) { continue }
                    return Step(
                        kind: .noLink, link: url.text, platform: rule.platform, parameter: parameter.number)
                }
                return Step(kind: .link, link: link, platform: rule.platform, parameter: parameter.number)
            }
            if rule.rewrites {
                // A rule that changes nothing does not apply, so it ends after its own result.
                guard let link = rewritten(url, rule, limit, &found.notes, &arena) else {
                    return Step(kind: .noLink, link: url.text, platform: rule.platform)
                }
                if link == url.text { continue }
                return Step(kind: .link, link: link, platform: rule.platform)
            }
            if let result = rule.result { return Step(kind: result, link: url.text, platform: rule.platform) }
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether a parameter counts for a device.
    func counts(_ parameter: LinkPlatformImage.Parameter, _ device: DeviceClass) -> Bool {
        parameter.device == nil || parameter.device == device
    }

    // MARK: - Conditions

    private func matches(_ rule: LinkPlatformImage.Rule, _ url: PlatformURL) -> Bool {
        rule.schemes.contains(isWeb: url.isWeb) && (rule.isAnyHost || hasHost(rule, url))
            && hasPath(rule.path, url.path) && hasMark(rule, url.query)
    }

    /// Returns a Boolean value that indicates whether a host is one of the rule's, or below one of its domains.
    ///
    /// A domain begins after a dot, so `evilgo.link` is not below `go.link`.
    private func hasHost(_ rule: LinkPlatformImage.Rule, _ url: PlatformURL) -> Bool {
        for host in rule.hosts {
            let before = url.host.count &- host.name.count
            if before < 0 || (host.isSuffix ? before < 2 : before != 0) { continue }
            if before > 0 && url.host.start[before &- 1] != UInt8(ascii: ".") { continue }
            if ByteScan.equalFolded(url.host.dropFirst(before), host.name) { return url.hasPlainHost }
        }
        return false
    }

    private func hasPath(_ condition: LinkPlatformImage.Path, _ path: ByteView) -> Bool {
        switch condition {
        case .any: return true
        case .exact(let wanted):
            let isLonger = path.count == wanted.count &+ 1 && path.start[wanted.count] == UInt8(ascii: "/")
            return (path.count == wanted.count || isLonger) && path.hasPrefix(wanted)
        case .below(let start):
            guard path.count > start.count, path.hasPrefix(start), path.start[start.count] == UInt8(ascii: "/") else {
                return false
            }
            for index in start.count..<path.count where path.start[index] != UInt8(ascii: "/") { return true }
            return false
        }
    }

    private func hasMark(_ rule: LinkPlatformImage.Rule, _ query: ByteView) -> Bool {
        if rule.marks.isEmpty { return true }
        var items = WrittenQuery(query)
        while let item = items.next() {
            if hasName(item.name, rule.marks) { return true }
        }
        return false
    }

    /// Returns the link in the first item of the query with a name and a value, or nil if it has none.
    ///
    /// The value is decoded once, and `+` stays a plus sign.
    func value(
        of name: ByteView, in url: PlatformURL, accepts: LinkPlatformImage.Schemes, origin: ByteView, _ limit: Int,
        _ notes: inout UnwrappedLink.Notes, _ arena: inout OutputArena
    ) -> ByteView? {
        var items = WrittenQuery(url.query)
        while let item = items.next() {
            guard !item.value.isEmpty, WrittenQuery.name(item.name, is: name) else { continue }
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
        _ value: ByteView, accepts: LinkPlatformImage.Schemes, origin: ByteView, _ limit: Int,
        _ notes: inout UnwrappedLink.Notes, _ arena: inout OutputArena
    ) -> ByteView? {
        guard Self.isLink(value) else {
            if origin.isEmpty {
                notes.insert(.noScheme)
                return nil
            }
            return joined(origin, path: value, limit, &notes, &arena)
        }
        let scheme = value.slice(0, Resolver.schemeLength(value))
        let isWeb = equalsFolded(scheme, "https") || equalsFolded(scheme, "http")
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
        let length = Resolver.schemeLength(value)
        return length > 0 && length &+ 1 < value.count && value.start[length &+ 1] == UInt8(ascii: "/")
    }

    /// Returns a Boolean value that indicates whether a value may lack its end, because it was written without escapes.
    private static func isCut(_ item: WrittenQuery.Item, hasFragment: Bool) -> Bool {
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
        var items = WrittenQuery(query)
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
        var items = WrittenQuery(url.query)
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
        for known in rule.strip where WrittenQuery.name(name, is: known.name, orBegins: known.isPrefix) { return true }
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

/// The destination of a link, as far as it is known without a network.
package struct UnwrappedLink {
    /// The kind of a destination.
    package enum Kind: UInt8, Sendable, BitwiseCopyable {
        /// The link is its own destination.
        case itself
        /// The destination is another link.
        case link
        /// The link belongs to a platform and leads to no destination.
        case noLink
        /// Only the platform's servers know the destination.
        case needsResolution
    }

    /// The observations that a decision notes, as codes.
    package struct Notes: OptionSet, Sendable {
        /// The bits of the set.
        package let rawValue: UInt8

        /// Creates a set of bits.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A value has a malformed escape and counts as absent.
        package static let malformed = Notes(rawValue: 1)
        /// A value has no scheme, and the rule names no origin, so it counts as absent.
        package static let noScheme = Notes(rawValue: 2)
        /// A value has a scheme that the rule does not accept, so it counts as absent.
        package static let scheme = Notes(rawValue: 4)
        /// A link in a parameter was written without escapes and has a query or a fragment, so its end may be missing.
        package static let cut = Notes(rawValue: 8)
        /// A link contains a link of a platform more than `LinkPlatforms.maxSteps` times.
        package static let tooDeep = Notes(rawValue: 16)
        /// The destination is longer than the limit, so there is none.
        package static let tooLong = Notes(rawValue: 32)
    }

    /// The kind of the destination.
    package internal(set) var kind = Kind.itself
    /// The destination if `kind` is `link`, and otherwise the link at which the search ended.
    ///
    /// It is valid as long as the given link and the records of the arena.
    package internal(set) var link: ByteView
    /// The observations.
    package internal(set) var notes: Notes = []
    /// The number of rules that were applied, at most `LinkPlatforms.maxSteps` + 2.
    package internal(set) var stepCount = 0
    /// The numbers of the applied rules.
    var platforms = SIMD8<Int16>(repeating: -1)
    /// The numbers of the parameters from which the rules took a link, or -1.
    var parameters = SIMD8<Int16>(repeating: -1)
    /// The queries of the links to which the rules were applied.
    private(set) var queries = Steps(ByteView.empty)
    /// The entries of the file of short links that gave a destination.
    private(set) var shortLinks = Steps<ShortLinkFile.Answer?>(nil)

    /// A value for each of at most five steps, in memory of their own.
    struct Steps<Value> {
        private var all: (Value, Value, Value, Value, Value)

        init(_ value: Value) { all = (value, value, value, value, value) }

        /// Accesses the value of a step, from 0 to 4.
        subscript(step: Int) -> Value {
            get {
                switch step {
                case 0: all.0
                case 1: all.1
                case 2: all.2
                case 3: all.3
                default: all.4
                }
            }
            set {
                switch step {
                case 0: all.0 = newValue
                case 1: all.1 = newValue
                case 2: all.2 = newValue
                case 3: all.3 = newValue
                default: all.4 = newValue
                }
            }
        }
    }

    init(_ link: ByteView) { self.link = link }

    /// Adds an applied rule.
    ///
    /// The limits of a file keep both numbers in the range of `Int16`.
    mutating func add(
        platform: Int, parameter: Int = -1, shortLink: ShortLinkFile.Answer? = nil, of query: ByteView
    ) {
        guard stepCount < LinkPlatforms.maxSteps + 2 else { return }
        queries[stepCount] = query
        shortLinks[stepCount] = shortLink
        platforms[stepCount] = Int16(truncatingIfNeeded: platform)
        parameters[stepCount] = Int16(truncatingIfNeeded: parameter)
        stepCount &+= 1
    }
}
