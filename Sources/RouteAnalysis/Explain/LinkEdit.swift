internal import LinkCoordinator

/// A link whose parts, identified by their byte ranges, can be replaced.
struct LinkEdit {
    private var bytes: [UInt8]
    private let linkParts: LinkParts
    /// The current byte ranges of the segments.
    private var segments: [Range<Int>]
    private var pathEnd: Int

    init(_ bytes: [UInt8], _ linkParts: LinkParts) {
        self.bytes = bytes
        self.linkParts = linkParts
        segments = linkParts.parts.filter { $0.kind == .segment }.map { $0.offset..<($0.offset + $0.count) }
        pathEnd = linkParts.pathEnd
    }

    /// The current text of the link.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    private func string(_ range: some RangeExpression<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func part(_ kind: LinkPart.Kind) -> String? {
        linkParts.parts.first { $0.kind == kind }.map { string($0.offset..<($0.offset + $0.count)) }
    }

    /// The scheme in lowercase, or nil if there is none.
    var scheme: String? { part(.scheme)?.lowercased() }
    /// The host as received.
    var host: String? { part(.host) }
    /// The link without surrounding white space, brackets, and quotes.
    var trimmed: String {
        let around = Array(" \t\r\n<>\"'()[]".utf8)
        let start = bytes.firstIndex { !around.contains($0) } ?? 0
        let end = bytes.lastIndex { !around.contains($0) } ?? -1
        return end < start ? "" : string(start...end)
    }
    /// The link without leading slashes.
    var withoutSlashes: String { String(trimmed.drop { $0 == "/" }) }

    /// The offset of the end of the authority, which is the start of the path.
    private var authorityEnd: Int {
        let authority = linkParts.parts.filter { $0.offset >= linkParts.authorityStart && $0.kind.isAuthority }
        return authority.last.map { $0.offset + $0.count } ?? linkParts.authorityStart
    }

    /// Returns the link with another scheme, or with another host and without userinfo and port.
    func with(scheme: String? = nil, host: String? = nil) -> String {
        let name = scheme ?? self.scheme ?? ""
        let hasSlashes = string(..<linkParts.authorityStart).hasSuffix("//")
        guard let host else { return name + string((part(.scheme)?.utf8.count ?? 0)...) }
        let rest = string((hasSlashes ? authorityEnd : linkParts.authorityStart)...)
        return "\(name)://\(host)" + (rest.hasPrefix("/") || host.isEmpty == rest.isEmpty ? "" : "/") + rest
    }

    /// The link with exactly two slashes after its scheme.
    var slashed: String {
        let count = part(.scheme)?.utf8.count ?? 0
        let rest = string(min(count + 1, bytes.count)...).drop { $0 == "/" }
        return string(..<count) + "://" + rest
    }

    /// The link with its host as the first segment of the path.
    var withHostAsSegment: String {
        "\(scheme ?? "")://" + "/" + string(linkParts.authorityStart...)
    }

    /// Returns the link without bytes that are invalid in links, and with single slashes in its path.
    func cleaned() -> String {
        let invisible: [ClosedRange<UInt32>] = [
            0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2060, 0x2066...0x2069, 0xFEFF...0xFEFF,
        ]
        var result = ""
        for scalar in trimmed.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
            if scalar == "\\" {
                result.append("/")
            } else if !invisible.contains(where: { $0.contains(scalar.value) }), scalar.value != 0xFFFD {
                result.unicodeScalars.append(scalar)
            }
        }
        guard let start = result.firstRange(of: "://") else { return result }
        let head = result[..<start.upperBound]
        var path = result[start.upperBound...]
        let tail = path.firstIndex { $0 == "?" || $0 == "#" }.map { path[$0...] } ?? ""
        path = path.dropLast(tail.count)
        var single = ""
        for character in path where character != "/" || single.last != "/" { single.append(character) }
        return head + single + tail
    }

    /// Replaces a segment.
    mutating func replace(segment index: Int, by text: [UInt8]) {
        guard segments.indices.contains(index) else { return }
        splice(segments[index], Array(LinkEncoding.encode(text).utf8))
    }

    /// Removes a segment with the slash before it, or the slash after it if the segment is the host.
    mutating func remove(segment index: Int) {
        guard segments.indices.contains(index) else { return }
        let own = segments[index]
        let hasSlash = own.lowerBound > linkParts.authorityStart && bytes[own.lowerBound - 1] == UInt8(ascii: "/")
        let range = hasSlash ? (own.lowerBound - 1)..<own.upperBound : own.lowerBound..<min(own.upperBound + 1, pathEnd)
        splice(range, [])
        segments.remove(at: index)
    }

    /// Inserts a segment before another one, or at the end of the path.
    mutating func insert(_ text: [UInt8], before index: Int) {
        let encoded = Array(LinkEncoding.encode(text).utf8)
        guard segments.indices.contains(index) else {
            let hasSlash = pathEnd > 0 && bytes[pathEnd - 1] == UInt8(ascii: "/")
            return splice(pathEnd..<pathEnd, (hasSlash ? [] : [UInt8(ascii: "/")]) + encoded)
        }
        splice(segments[index].lowerBound..<segments[index].lowerBound, encoded + [UInt8(ascii: "/")])
    }

    /// Returns the link with another name in a part of its query.
    func with(queryName name: String, at part: LinkPart) -> String {
        let piece = bytes[part.offset..<(part.offset + part.count)]
        let value = piece.firstIndex(of: UInt8(ascii: "=")).map { piece[$0...] } ?? []
        return string(..<part.offset) + name + String(decoding: value, as: UTF8.self)
            + string((part.offset + part.count)...)
    }

    private mutating func splice(_ range: Range<Int>, _ text: [UInt8]) {
        bytes.replaceSubrange(range, with: text)
        let change = text.count - range.count
        for index in segments.indices where segments[index].lowerBound >= range.upperBound {
            segments[index] = (segments[index].lowerBound + change)..<(segments[index].upperBound + change)
        }
        pathEnd += change
    }
}

extension LinkPart.Kind {
    /// A Boolean value that indicates whether the part belongs to the authority.
    fileprivate var isAuthority: Bool {
        switch self {
        case .userinfo, .host, .port: true
        default: false
        }
    }
}
