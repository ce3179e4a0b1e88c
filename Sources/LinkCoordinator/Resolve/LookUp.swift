package import StrictJSON

extension Resolver {
    /// Splits a path and searches it, nothing else: the look-up that benchmarks compare with other routers.
    ///
    /// - Parameters:
    ///   - path: A path with or without percent-escapes.
    ///   - table: The table, whose first block says how the path is split.
    /// - Returns: The id of the route whose pattern takes the path best, or nil.
    package mutating func lookUp(_ path: ByteView, in table: CompiledTable) -> ByteView? {
        defer { withExtendedLifetime(table) {} }
        image = table.image
        block = image.blocks.at(0)
        segments.removeAll()
        firstSegment = 0
        hasHost = false
        if textsUsed {
            texts.reset()
            textsUsed = false
        }
        guard (try? readSegments(authority: .empty, path: path)) != nil else { return nil }
        let found = search()
        return found < 0 ? nil : image.routes.at(Int(image.patterns[found].route)).id
    }
}
