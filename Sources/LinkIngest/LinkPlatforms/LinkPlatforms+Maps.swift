package import ByteStorage

extension LinkPlatforms {
    /// Returns the destination of a map that the SDK of a platform hands to the app, or nil if no platform has such a
    /// map.
    ///
    /// - Parameters:
    ///   - device: The class of the device, for members that only one platform uses.
    ///   - limit: The maximum length of a link.
    ///   - arena: The arena that receives decoded links. It has no open record.
    ///   - value: A function that returns the unescaped text of a member that is a string, the text of one that is a
    ///     number or a Boolean value, or nil. The views are valid as long as the destination is used.
    package func destination(
        ofMap device: DeviceClass = .unknown, limit: Int = defaultLimit, into arena: inout OutputArena,
        value: (ByteView) -> ByteView?
    ) -> UnwrappedLink? {
        for map in image.maps where map.marks.contains(where: { value($0) != nil }) {
            return destination(of: map, device, limit, &arena, value)
        }
        return nil
    }

    private func destination(
        of map: LinkPlatformImage.Map, _ device: DeviceClass, _ limit: Int, _ arena: inout OutputArena,
        _ value: (ByteView) -> ByteView?
    ) -> UnwrappedLink {
        var found = UnwrappedLink(.empty)
        found.kind = .noLink
        for condition in map.conditions where !holds(condition, value) {
            found.add(platform: map.platform, parameter: -1)
            return found
        }
        for member in map.links where counts(member, device) {
            guard let text = value(member.name), !text.isEmpty else { continue }
            guard text.count <= limit else {
                found.notes.insert(.tooLong)
                continue
            }
            guard let link = link(text, accepts: .any, origin: map.origin, limit, &found.notes, &arena) else {
                continue
            }
            found.add(platform: map.platform, parameter: member.number)
            found.kind = .link
            found.link = link
            follow(link, device, limit, &found, &arena)
            return found
        }
        for member in map.via {
            guard let text = value(member.name), Self.isLink(text), text.count <= limit else {
                continue
            }
            found.add(platform: map.platform, parameter: member.number)
            // A host that the table does not list can be the platform's under a name of the brand.
            found.kind = .needsResolution
            found.link = text
            follow(text, device, limit, &found, &arena)
            return found
        }
        found.add(platform: map.platform, parameter: -1)
        return found
    }

    private func holds(_ condition: LinkPlatformImage.Condition, _ value: (ByteView) -> ByteView?) -> Bool {
        guard let text = value(condition.name) else { return false }
        return condition.values.contains { $0 == text }
    }

    // MARK: - Examples

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
        if let link = example.link {
            return [UInt8](link.utf8).withUnsafeBufferPointer { bytes in
                let found = destination(of: ByteView(bytes), device: example.device, into: &arena)
                return (found.kind, found.link.string)
            }
        }
        var texts = OutputArena(chunkBytes: 4096)
        let members = example.map.map { name, value in
            (name: Self.copy(name, &texts), value: Self.copy(value, &texts))
        }
        let found = destination(ofMap: example.device, into: &arena) { name in
            members.first { $0.name == name }?.value
        }
        return (found?.kind ?? .itself, found?.link.string ?? "")
    }

    private static func copy(_ text: String, _ arena: inout OutputArena) -> ByteView {
        arena.begin()
        arena.append([UInt8](text.utf8))
        return arena.finish()
    }
}
