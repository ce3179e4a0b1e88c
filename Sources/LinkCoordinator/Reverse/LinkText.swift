internal import ByteStorage

/// Writes the parts of a link in the dialect of one link block.
///
/// See RouteTableReference, "Normalization".
struct LinkText {
    let block: TableSource.LinkBlock
    let foldsCase: Bool

    /// Percent-encodes all bytes except unreserved characters (RFC 3986, section 2.3).
    static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if PercentDecoding.isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a Boolean value that indicates whether a text can be a decoded segment.
    ///
    /// See RouteTableReference, "Path segments".
    static func isSegment(_ text: String) -> Bool {
        if text.isEmpty || text == "." || text == ".." { return false }
        return text.isClean(invisiblesAllowed: false)
    }

    /// Returns the segments of a pattern with the values of its captures.
    func segments(
        of pattern: Pattern, _ arguments: LinkArguments, isCoordinator: (String) -> Bool
    ) throws(LinkError) -> [String] {
        var segments: [String] = []
        for (index, matcher) in pattern.matchers.enumerated() where !matcher.isTerminal {
            if case .literal(let text) = matcher {
                segments.append(String(decoding: text, as: UTF8.self))
                continue
            }
            guard let capture = pattern.captures.first(where: { $0.segment == index && !$0.isTail }) else { continue }
            let position = "path.\(capture.name)"
            guard let values = arguments.captures[capture.name] else {
                throw LinkError(.missing, position, matcher.name)
            }
            guard values.count == 1 else { throw LinkError(.value, position, matcher.name) }
            do throws(LinkError) {
                segments.append(try segment(matcher, values[0], position))
            } catch {
                guard let other = arguments.spellings[capture.name] else { throw error }
                segments.append(try segment(matcher, other, position))
            }
        }
        return try segments + tail(of: pattern, arguments, isCoordinator: isCoordinator)
    }

    /// Returns a segment that consists of the matcher's affixes and the captured text between them.
    private func segment(_ matcher: Matcher, _ value: String, _ position: String) throws(LinkError) -> String {
        var text = value
        if case .affix(let prefix, _, let suffix) = matcher {
            text = String(decoding: prefix, as: UTF8.self) + value + String(decoding: suffix, as: UTF8.self)
        }
        let fits = Array(text.utf8).withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: foldsCase) }
        guard fits, !value.isEmpty, Self.isSegment(text) else { throw LinkError(.value, position, matcher.name) }
        return text
    }

    private func tail(
        of pattern: Pattern, _ arguments: LinkArguments, isCoordinator: (String) -> Bool
    ) throws(LinkError) -> [String] {
        let terminal = pattern.matchers[pattern.segmentCount]
        if case .anySegment(let text) = terminal { return [String(decoding: text, as: UTF8.self)] }
        guard let capture = pattern.captures.first(where: \.isTail) else { return [] }
        let position = "path.\(capture.name)"
        let texts = arguments.captures[capture.name] ?? []
        if texts.isEmpty {
            if terminal == .restStar { return [] }
            throw LinkError(.missing, position, terminal.name)
        }
        let begins = terminal != .coordinatorPath || isCoordinator(texts[0])
        guard begins, texts.allSatisfy(Self.isSegment) else { throw LinkError(.value, position, terminal.name) }
        // If empty segments have a meaning, a tail is written as it was given.
        return block.emptySegments == .reset ? arguments.paths[capture.name] ?? texts : texts
    }

    /// Returns a path with the segments that rewrites remove again.
    ///
    /// These are the values that the route binds from rewrites. If a rewrite would remove segments of the path itself,
    /// those segments are repeated.
    func prefixed(_ own: [String], _ arguments: LinkArguments) throws(LinkError) -> [String] {
        var unusedRewrites = arguments.rewrites
        let values = block.rewrites.map { rule in rule.name.flatMap { unusedRewrites.removeValue(forKey: $0) } }
        if let name = unusedRewrites.keys.min() {
            throw LinkError(.unwritable, "rewrite.\(name)", "a rewrite with this name for the scheme of the link")
        }
        var path = own
        // The last rule removes its segments last, so its segments are next to the path.
        for (rule, value) in zip(block.rewrites, values).reversed() {
            if let value {
                path = try segments(of: rule, value) + path
            } else if rule.matches(path, foldsCase: foldsCase) {
                path = path.prefix(rule.segmentCount) + path
            }
        }
        return path
    }

    /// Returns the segments from which a rewrite captures the value.
    private func segments(of rule: TableSource.Rewrite, _ value: String) throws(LinkError) -> [String] {
        var segments: [String] = []
        for matcher in rule.pattern.matchers where !matcher.isTerminal {
            if case .literal(let text) = matcher {
                segments.append(String(decoding: text, as: UTF8.self))
            } else {
                segments.append(try segment(matcher, value, "rewrite.\(rule.name ?? "")"))
            }
        }
        return segments
    }
}

extension TableSource.Rewrite {
    /// Returns a Boolean value that indicates whether the rule removes the first segments of a path.
    fileprivate func matches(_ path: [String], foldsCase: Bool) -> Bool {
        guard path.count >= segmentCount else { return false }
        return zip(pattern.matchers.prefix(segmentCount), path).allSatisfy { matcher, segment in
            Array(segment.utf8).withUnsafeBufferPointer { matcher.matches(ByteView($0), foldsCase: foldsCase) }
        }
    }
}
