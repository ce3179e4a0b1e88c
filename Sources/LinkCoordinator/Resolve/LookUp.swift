package import ByteStorage

extension Resolver {
    /// Splits a path and searches for its route without any other phase, for benchmarks that compare routers.
    ///
    /// - Parameters:
    ///   - path: A path, with or without percent escapes.
    ///   - bytesAfter: The number of readable bytes after the path.
    ///   - table: The table, whose first block determines how the path is split.
    /// - Returns: The index of the route whose pattern is the best match, or nil.
    package mutating func lookUp(_ path: ByteView, bytesAfter: Int, in table: TableHandle) -> Int? {
        self.table = table
        link.block = tableData.blocks.at(0)
        link.host = nil
        selection.path = LinkPath()
        segments.removeAll()
        texts.resetArena()
        let text = bytesAfter >= WideScan.padding ? path : texts.padded(path)
        if splitPlainSegments(text.start, text.end, text.lease) != text.end {
            segments.removeAll()
            guard (try? readSegments(authority: .empty, path: text)) != nil else { return nil }
        }
        return search().map { Int($0.route) }
    }
}
