internal import ByteStorage

extension LinkPlatforms {
    /// Returns the examples of the table that have another destination than they say.
    func failedExamples() -> [LinkPlatformReader.Found] {
        source.platforms.flatMap(\.examples).compactMap { example in
            var arena = OutputArena(chunkBytes: 4096)
            let (kind, link) = destination(of: example, &arena)
            if kind == example.kind && (kind != .link || link == example.destination) { return nil }
            let actual =
                switch kind {
                case .link: "`\(link)`"
                case .itself: "`itself`"
                case .noLink: "`no_link`"
                case .needsResolution: "`needs_resolution`"
                }
            let wanted = example.destination.map { "destination `\($0)`" } ?? "stated result"
            return LinkPlatformReader.Found(
                code: .example, pointer: example.pointer, expected: "expected the \(wanted), found \(actual)")
        }
    }

    private func destination(
        of example: LinkPlatformSource.Example, _ arena: inout OutputArena
    ) -> (UnwrappedLink.Kind, String) {
        [UInt8](example.link.utf8).withUnsafeBufferPointer { bytes in
            let found = destination(of: ByteView(bytes), device: example.device, into: &arena)
            return (found.kind, found.link.string)
        }
    }
}
