internal import ByteStorage
internal import ShortLinks

/// The compiled form of a file of link platforms.
///
/// All parts are in memory that the table owns, so that a look-up does not count references.
struct LinkPlatformImage: BitwiseCopyable {
    /// The ids of the platforms.
    var platforms: UnsafeBufferPointer<ByteView>
    /// The rules of all platforms, in order.
    var rules: UnsafeBufferPointer<Rule>
    /// The parameters with links, by number.
    var parameters: UnsafeBufferPointer<Parameter>
    /// The marks of the rules for every host.
    var anyHostMarks: UnsafeBufferPointer<ByteView>
    /// The bytes with which the names of these marks begin, as they can be written.
    var markStarts: ByteSet
    /// The last bytes of the hosts.
    var endings: HostEndings

    /// A host of a rule, or all hosts below a name.
    struct Host: BitwiseCopyable {
        /// The name in lowercase.
        var name: ByteView
        var isSuffix: Bool
    }

    /// The name of a parameter.
    struct Parameter: BitwiseCopyable {
        var name: ByteView
        /// The number among all parameters of the table.
        var number: Int
        /// The device for which the parameter counts, or nil for all devices.
        var device: DeviceClass?
    }

    /// A name of items to remove.
    struct Strip: BitwiseCopyable {
        var name: ByteView
        /// A Boolean value that indicates whether all names that begin with this one are meant.
        var isPrefix: Bool
    }

    /// A condition for the path.
    enum Path: BitwiseCopyable {
        case any
        /// The path is this one, with or without a slash at its end.
        case exact(ByteView)
        /// The path has at least one segment below this one.
        case below(ByteView)
    }

    /// The schemes of links.
    enum Schemes: String, CaseIterable, BitwiseCopyable {
        case web, custom, any

        func contains(isWeb: Bool) -> Bool { self == .any || isWeb == (self == .web) }
    }

    /// A rule: the links that it reads, and their destination.
    struct Rule: BitwiseCopyable {
        var platform: Int
        var schemes = Schemes.web
        var accepts = Schemes.any
        var isAnyHost = false
        var hosts = UnsafeBufferPointer<Host>(start: nil, count: 0)
        var path = Path.any
        var marks = UnsafeBufferPointer<ByteView>(start: nil, count: 0)
        var unwrap = UnsafeBufferPointer<Parameter>(start: nil, count: 0)
        var strip = UnsafeBufferPointer<Strip>(start: nil, count: 0)
        var prefix = ByteView.empty
        var origin = ByteView.empty
        /// A Boolean value that indicates whether the rule gives the link without parts of it, or at another origin.
        var rewrites = false
        var result: UnwrappedLink.Kind?
    }
}

/// The platforms of devices that links distinguish.
package enum DeviceClass: String, Sendable, CaseIterable, BitwiseCopyable {
    case apple, android, web, unknown
}

/// A set of bytes.
struct ByteSet {
    private var bits = SIMD4<UInt64>(repeating: 0)

    /// Adds a byte.
    mutating func insert(_ byte: UInt8) { bits[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

    /// Returns a Boolean value that indicates whether the set has a byte.
    @inline(__always)
    func contains(_ byte: UInt8) -> Bool { bits[Int(byte >> 6)] & 1 << UInt64(byte & 63) != 0 }
}

/// A filter for hosts: the last bytes of all names of a table, as a set that also contains others.
///
/// Most links have a host that no platform has, and cost only one look-up.
struct HostEndings {
    private var numbers = ByteSet()
    /// The number of bytes of an ending, or 0 if there are no names.
    private var length = 0

    init(_ names: [ByteView]) {
        length = min(8, names.lazy.map(\.count).min() ?? 0)
        for name in names { numbers.insert(Self.number(name, length)) }
    }

    /// Returns a Boolean value that indicates whether a host may be one of the names, or below one of them.
    @inline(__always)
    func mayContain(_ host: ByteView) -> Bool {
        length > 0 && host.count >= length && numbers.contains(Self.number(host, length))
    }

    /// Returns a number for the last bytes of a text, the same for both cases of a letter.
    @inline(__always)
    private static func number(_ text: ByteView, _ length: Int) -> UInt8 {
        var word: UInt64 = 0
        var index = text.count &- length
        while index < text.count {
            word = word &<< 8 | UInt64(text.start[index] | 0x20)
            index &+= 1
        }
        return UInt8(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) &>> 56)
    }
}

/// A filter for links to which no rule applies: they have a known origin, and no item that a rule for every host reads.
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
    /// The first bytes of the names of items that a rule for every host reads, if there are at most two.
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

    /// Removes the origins, because another file of short links can have their hosts.
    func forget() { counts.update(repeating: 0, count: Self.capacity) }

    /// Adds the origin of a link if no rule and no short link has its host.
    func learn(_ link: ByteView, _ platforms: LinkPlatforms, _ shortLinks: ShortLinkFile? = nil) {
        guard link.count >= Self.leastLink, knownOrigin(link) == 0, let url = PlatformURL(link),
            !platforms.image.endings.mayContain(url.host), shortLinks?.mayHave(host: url.host) != true,
            url.origin.count <= Self.maxOrigin
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

    /// Returns a Boolean value that indicates whether a rule for every host may read an item, or whether an item may
    /// have a link without escapes.
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
