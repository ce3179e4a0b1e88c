internal import ByteStorage

extension LinkPlatforms {
    /// Returns the examples of the table that have another destination than they say.
    package func failedExamples() -> [LinkPlatformProblem] {
        source.platforms.flatMap(\.examples).compactMap { example in
            var arena = OutputArena(chunkBytes: 4096)
            let (kind, link) = destination(of: example, &arena)
            if kind == example.kind && (kind != .link || link == example.destination) { return nil }
            let found =
                switch kind {
                case .link: "`\(link)`"
                case .itself: "`itself`"
                case .noLink: "`no_link`"
                case .needsResolution: "`needs_resolution`"
                }
            return LinkPlatformProblem(pointer: example.pointer, text: "the destination is \(found)")
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
