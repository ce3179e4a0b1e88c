internal import ByteStorage

/// A filter for links to which no rule applies: those with a known origin and no item that a rule for every host reads.
///
/// Producers use few origins, so a link costs a comparison of its first bytes and one pass over the others. The filter
/// excludes only links that `LinkPlatforms.mayApply(to:)` excludes.
struct OriginFilter: ~Copyable {
    /// The minimum length of a link, and the maximum length of an origin, in bytes.
    private static let leastLink = 17
    private static let maxOrigin = 64
    private static let capacity = 16

    /// The lengths of the origins, or 0, and their bytes.
    private let counts: UnsafeMutablePointer<Int>
    private let texts: UnsafeMutablePointer<UInt8>
    /// The bytes with which the name of an item begins that a rule for every host reads, if there are at most two.
    private let firstStart: UInt8
    private let secondStart: UInt8
    /// The number of these bytes.
    private let startCount: Int

    init(_ platforms: LinkPlatforms?) {
        counts = .allocate(capacity: Self.capacity)
        counts.initialize(repeating: 0, count: Self.capacity)
        texts = .allocate(capacity: Self.capacity * Self.maxOrigin)
        texts.initialize(repeating: 0, count: Self.capacity * Self.maxOrigin)
        let starts = (0...255).filter { platforms?.image.markStarts.contains($0) ?? false }
        startCount = starts.count
        firstStart = starts.first ?? 0
        secondStart = starts.last ?? 0
    }

    deinit {
        counts.deallocate()
        texts.deallocate()
    }

    /// Returns the place of a link's origin, which differs for most origins.
    @inline(__always)
    private func place(_ link: ByteView) -> Int {
        Int((link.start[0] ^ link.start[9] &<< 1 ^ link.start[12]) & 15)
    }

    /// Returns the length of the origin of a link if it is one of these, or 0.
    @inline(__always)
    private func knownOrigin(_ link: ByteView) -> Int {
        guard link.count >= Self.leastLink else { return 0 }
        let place = place(link)
        let count = counts[place]
        guard count > 0, count < link.count else { return 0 }
        let after = link.start[count]
        guard after == UInt8(ascii: "/") || after == UInt8(ascii: "?") || after == UInt8(ascii: "#") else { return 0 }
        return ByteView.equalBytes(link.start, texts + place &* Self.maxOrigin, count) ? count : 0
    }

    /// Adds the origin of a link if no rule has its host.
    func learn(_ link: ByteView, _ platforms: LinkPlatforms) {
        guard link.count >= Self.leastLink, knownOrigin(link) == 0, let url = PlatformURL(link),
            !platforms.image.endings.mayContain(url.host), url.origin.count <= Self.maxOrigin
        else { return }
        let place = place(link)
        counts[place] = url.origin.count
        for index in 0..<url.origin.count { texts[place &* Self.maxOrigin &+ index] = link.start[index] }
    }

    /// Returns a Boolean value that indicates whether it is certain that no rule applies to a link.
    @inline(__always)
    func excludes(_ link: ByteView) -> Bool {
        let origin = knownOrigin(link)
        return origin > 0 && !hasStart(link, from: origin)
    }

    /// Returns a Boolean value that indicates whether an item may be one that a rule for every host reads, or may have
    /// a link that is written without escapes.
    ///
    /// An item begins after a question mark or an ampersand, and a link has a colon.
    @inline(__always)
    private func hasStart(_ link: ByteView, from origin: Int) -> Bool {
        let last = link.count &- Self.leastLink
        let first = WideBytes.all(firstStart)
        let second = WideBytes.all(secondStart)
        var found = SIMD2<UInt64>(repeating: 0)
        var index = origin
        while true {
            // The last bytes are compared again, so that no byte after the link is read.
            let position = link.start + min(index, last)
            let window = WideBytes.load(position)
            let marks =
                WideBytes.equal(WideBytes.all(UInt8(ascii: "?")), in: window)
                | WideBytes.equal(WideBytes.all(UInt8(ascii: "&")), in: window)
            let names = WideBytes.load(position + 1)
            let starts = WideBytes.equal(first, in: names) | WideBytes.equal(second, in: names)
            found |= startCount > 2 ? marks : marks & starts
            found |= WideBytes.equal(WideBytes.all(UInt8(ascii: ":")), in: window)
            if index >= last { return !WideBytes.isNone(found) }
            index &+= 16
        }
    }
}
