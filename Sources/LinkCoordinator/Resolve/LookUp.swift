package import ByteStorage

extension Resolver {
    /// Splits a path and searches it, nothing else: the look-up that benchmarks compare with other routers.
    ///
    /// - Parameters:
    ///   - path: A path with or without percent-escapes.
    ///   - bytesBehind: How many bytes behind the path may be read, as those of the record that it stands in.
    ///   - table: The table, whose first block says how the path is split.
    /// - Returns: The number of the route whose pattern takes the path best, or nil.
    package mutating func lookUp(_ path: ByteView, bytesBehind: Int, in table: TableHandle) -> Int? {
        image = table.image
        block = image.blocks.at(0)
        segments.removeAll()
        firstSegment = 0
        hasHost = false
        if textsUsed {
            texts.reset()
            textsUsed = false
        }
        let text = bytesBehind >= WideScan.behind ? path : padded(path)
        if splitPlainSegments(text.start, text.end, text.lease) != text.end {
            segments.removeAll()
            guard (try? readSegments(authority: .empty, path: text)) != nil else { return nil }
        }
        let found = search()
        return found < 0 ? nil : Int(image.patterns[found].route)
    }
}
