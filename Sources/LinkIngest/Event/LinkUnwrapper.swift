internal import LinkCoordinator
internal import ByteStorage
internal import ShortLinks

/// The replacement of links of link platforms by their destinations, with notes.
struct LinkUnwrapper: ~Copyable {
    private let platforms: LinkPlatforms?
    /// A Boolean value that indicates whether there are rules, apart from the file of short links.
    private let hasRules: Bool
    /// The file with the destinations of short links, or nil.
    private var shortLinks: ShortLinkFile?
    private var arena = OutputArena(chunkBytes: 4096)
    /// A Boolean value that indicates whether the queries of wrappers are kept.
    private let keepsQueries: Bool
    private let none = RequestOpening()
    /// The origins that no rule has.
    let origins: OriginFilter

    init(_ platforms: LinkPlatforms?, _ shortLinks: ShortLinkFile? = nil, keepsQueries: Bool) {
        self.platforms = platforms ?? shortLinks.map { _ in LinkPlatforms.none }
        hasRules = platforms != nil
        self.shortLinks = shortLinks
        self.keepsQueries = keepsQueries
        origins = OriginFilter(platforms)
    }

    /// Uses another file of short links from the next record on.
    ///
    /// The reader must have had one before.
    mutating func use(_ shortLinks: ShortLinkFile) {
        if shortLinks === self.shortLinks { return }
        clear()
        self.shortLinks = shortLinks
        origins.forget()
    }

    /// Removes the links of the last record.
    mutating func clear() {
        if arena.bytesInUse > 0 { arena.reset() }
    }

    /// Returns a Boolean value that indicates whether a rule applies to a link.
    ///
    /// Removes the links of the last record.
    @inline(never)
    mutating func applies(to link: ByteView) -> Bool {
        clear()
        guard let platforms else { return false }
        origins.learn(link, platforms, shortLinks)
        let found = platforms.destination(
            of: link, device: .unknown, limit: LinkPlatforms.mostBytes, shortLinks: shortLinks, into: &arena)
        if !hasRules { return found.stepCount > 0 }
        return found.kind != .itself || found.stepCount > 0 || !found.notes.isEmpty
    }

    /// Returns what a link opens on devices of a class, and adds the notes about it.
    mutating func open(_ link: ByteView, for device: PlatformClass, _ notes: inout Growable<RequestNote>)
        -> RequestOpening
    {
        guard let platforms else { return opening(.link, link) }
        let found = platforms.destination(
            of: link, device: DeviceClass(device), limit: LinkPlatforms.mostBytes, shortLinks: shortLinks,
            into: &arena)
        for step in 0..<found.stepCount {
            if let shortLink = found.shortLinks[step] {
                notes.append(RequestNote(code: ByteView(RequestNote.shortLink), place: text(of: shortLink)))
                continue
            }
            arena.begin()
            arena.append(platforms.platform(of: found, step: step))
            if let parameter = platforms.parameter(of: found, step: step) {
                arena.append(byte: UInt8(ascii: "."))
                arena.append(parameter)
            }
            notes.append(RequestNote(code: ByteView("unwrapped:"), place: arena.finish()))
        }
        // Without rules, a link that is no short link has no notes.
        for (note, code) in Self.codes where found.notes.contains(note) && (hasRules || found.stepCount > 0) {
            notes.append(RequestNote(code: ByteView(code), place: .empty))
        }
        var opening =
            switch found.kind {
            case .itself, .link: self.opening(.link, found.link)
            case .noLink: RequestOpening(.noLink)
            case .needsResolution: RequestOpening(.needsResolution)
            }
        if keepsQueries && found.stepCount > 0 { opening.wrapperQuery = wrapperQuery(of: found) }
        return opening
    }

    /// Returns an opening as its initializer does, which is a call into another module.
    @inline(__always)
    private func opening(_ kind: RequestOpening.Kind, _ link: ByteView) -> RequestOpening {
        var opening = none
        opening.kind = kind
        opening.link = link
        return opening
    }

    /// Returns the file's hash, the short link, and its destination, separated by spaces.
    private mutating func text(of shortLink: ShortLinkFile.Answer) -> ByteView {
        arena.begin()
        if let shortLinks { arena.append(shortLinks.hash) }
        arena.append(byte: UInt8(ascii: " "))
        arena.append(shortLink.link)
        arena.append(byte: UInt8(ascii: " "))
        arena.append(shortLink.destination)
        return arena.finish()
    }

    /// Returns the queries of the links to which rules were applied, the innermost first, joined by `&`.
    private mutating func wrapperQuery(of found: UnwrappedLink) -> ByteView {
        arena.begin()
        for step in stride(from: found.stepCount - 1, through: 0, by: -1) where !found.queries[step].isEmpty {
            if arena.recordBytes > 0 { arena.append(byte: UInt8(ascii: "&")) }
            arena.append(found.queries[step])
        }
        return arena.finish()
    }

    /// The codes of notes.
    private static let codes: [(UnwrappedLink.Notes, StaticString)] = [
        (.malformed, "link_value_malformed"), (.noScheme, "link_value_without_scheme"), (.scheme, "link_value_scheme"),
        (.cut, "link_may_be_cut"), (.tooDeep, "link_nested_too_deep"), (.tooLong, "link_value_too_long"),
    ]
}

extension DeviceClass {
    /// Creates the class of devices for link platforms.
    fileprivate init(_ platform: PlatformClass) {
        switch platform {
        case .unknown: self = .unknown
        case .apple: self = .apple
        case .android: self = .android
        case .web: self = .web
        }
    }
}
