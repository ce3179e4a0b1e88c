package import ByteStorage

extension Resolver {
    /// Builds the URL of an external target, with percent-encoded captures and each segment of a tail encoded
    /// separately.
    ///
    /// The bytes are valid until the next template is texts.built.
    ///
    /// See RouteTableReference, "Targets".
    package mutating func externalURL(_ template: UnsafeBufferPointer<CompiledTemplatePart>) throws(Rejection)
        -> ByteView
    {
        texts.built.begin()
        for index in 0..<template.count {
            let part = template.at(index)
            switch part.kind {
            case .bytes: texts.built.append(part.bytes)
            case .segmentEnd: break
            case .query:
                if case .text(let value) = find(part.ref(\.query)) { PercentDecoding.encode(value, into: &texts.built) }
            case .capture:
                if let first = tail(part.name) {
                    for index in first..<max(first, path.count) {
                        if index > first { texts.built.append(byte: UInt8(ascii: "/")) }
                        PercentDecoding.encode(path[index].text, into: &texts.built)
                    }
                } else {
                    PercentDecoding.encode(capture(part.name) ?? rewritten(part.name) ?? .empty, into: &texts.built)
                }
            }
        }
        let url = texts.built.finish()
        if Self.hasDotSegment(url) { throw Rejection(.dotSegment) }
        return url
    }

    /// Returns a Boolean value that indicates whether the URL's path has a segment `.` or `..`, which a browser would
    /// resolve.
    private static func hasDotSegment(_ url: ByteView) -> Bool {
        if !beginsWithDot(url) { return false }
        var start = 0
        var index = 0
        while index <= url.count {
            let byte = index < url.count ? url.start[index] : UInt8(ascii: "/")
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
                let length = index &- start
                if length > 0 && length <= 2 && url.start[start] == UInt8(ascii: ".")
                    && url.start[index &- 1] == UInt8(ascii: ".")
                {
                    return true
                }
                if index < url.count && byte != UInt8(ascii: "/") { return false }
                start = index &+ 1
            }
            index &+= 1
        }
        return false
    }

    /// Returns a Boolean value that indicates whether a dot follows a slash anywhere.
    ///
    /// If no dot follows a slash, no segment consists of dots.
    private static func beginsWithDot(_ url: ByteView) -> Bool {
        var index = 0
        while index &+ 9 <= url.count {
            let slashes = ByteScan.zeros(ByteScan.load(url, index) ^ 0x2F2F_2F2F_2F2F_2F2F)
            let dots = ByteScan.zeros(ByteScan.load(url, index &+ 1) ^ 0x2E2E_2E2E_2E2E_2E2E)
            if slashes & dots != 0 { return true }
            index &+= 8
        }
        while index &+ 1 < url.count {
            if url.start[index] == UInt8(ascii: "/") && url.start[index &+ 1] == UInt8(ascii: ".") { return true }
            index &+= 1
        }
        return false
    }
}
