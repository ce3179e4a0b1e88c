internal import LinkCoordinator
package import ByteStorage

extension LinkPlatforms {
    /// Returns the destination of a link, as far as the link itself contains it.
    ///
    /// The function reads any bytes and never uses a network. A link that no rule reads, that is longer than `limit`,
    /// or that contains a byte that no link may have, is its own destination.
    ///
    /// - Parameters:
    ///   - link: The link.
    ///   - device: The class of the device, for parameters that only one platform uses.
    ///   - limit: The maximum length of a link.
    ///   - arena: The arena that receives decoded links, as records of at most `limit` bytes each. It has no open
    ///     record.
    package func destination(
        of link: ByteView, device: DeviceClass = .unknown, limit: Int = defaultLimit, into arena: inout OutputArena
    ) -> UnwrappedLink {
        var found = UnwrappedLink(link)
        if link.count > limit { return found }
        if let url = PlatformURL(link) {
            if mayApply(to: url) { follow(link, device, limit, &found, &arena) }
            if found.stepCount == 0 {
                if Self.hasCutLink(url.query, hasFragment: !url.fragment.isEmpty) { found.notes.insert(.cut) }
                return found
            }
        }
        if found.kind == .link || found.kind == .itself, Self.hasCutLink(found.link) { found.notes.insert(.cut) }
        return found
    }

    /// Applies rules until none applies, or one of them ends the search.
    func follow(
        _ link: ByteView, _ device: DeviceClass, _ limit: Int, _ found: inout UnwrappedLink, _ arena: inout OutputArena
    ) {
        var link = link
        while let url = PlatformURL(link), mayApply(to: url), isReadable(url) {
            guard let step = apply(to: url, device, limit, &found, &arena) else { break }
            if step.kind == .link && found.stepCount >= Self.maxSteps {
                found.kind = .needsResolution
                found.notes.insert(.tooDeep)
                return
            }
            found.add(platform: step.platform, parameter: step.parameter)
            if step.kind == .itself { break }
            found.kind = step.kind
            if step.kind != .link { return }
            link = step.link
            found.link = link
        }
    }

    /// The result of a rule.
    struct Step {
        var kind: UnwrappedLink.Kind
        var link: ByteView
        var platform: Int
        var parameter = -1
    }

    /// Returns a Boolean value that indicates whether a rule may apply, which is `false` for most links.
    @inline(__always)
    func mayApply(to url: PlatformURL) -> Bool {
        image.endings.mayContain(url.host) || (!url.query.isEmpty && hasAnyHostMark(url.query))
    }

    private func hasAnyHostMark(_ query: ByteView) -> Bool {
        var start = 0
        var items = 0
        while start < query.count && items < Self.maxQueryItems {
            items &+= 1
            if image.markStarts.contains(query.start[start]) {
                var rest = QueryItems(query.dropFirst(start))
                if let item = rest.next(), hasName(item.name, image.anyHostMarks) { return true }
            }
            start = ByteScan.first(UInt8(ascii: "&"), in: query, from: start) &+ 1
        }
        return false
    }

    private func hasName(_ name: ByteView, _ names: UnsafeBufferPointer<ByteView>) -> Bool {
        for known in names where QueryItems.name(name, is: known) { return true }
        return false
    }

    /// Returns a Boolean value that indicates whether a route table may accept the bytes and the length of a link.
    private func isReadable(_ url: PlatformURL) -> Bool {
        ByteScan.count(of: UInt8(ascii: "&"), in: url.query) < Self.maxQueryItems
            && ByteScan.firstForbidden(in: url.text) == nil
    }

    /// Returns the result of the first rule that applies, or nil.
    private func apply(
        to url: PlatformURL, _ device: DeviceClass, _ limit: Int, _ found: inout UnwrappedLink,
        _ arena: inout OutputArena
    ) -> Step? {
        for rule in image.rules where matches(rule, url) {
            for parameter in rule.unwrap where counts(parameter, device) {
                guard
                    let link = value(
                        of: parameter.name, in: url, accepts: rule.accepts, origin: rule.origin, limit,
                        &found.notes, &arena)
                else { continue }
                return Step(kind: .link, link: link, platform: rule.platform, parameter: parameter.number)
            }
            if rule.rewrites {
                // A rule that changes nothing does not apply, so that it ends after its own result.
                guard let link = rewritten(url, rule, limit, &found.notes, &arena), link != url.text else { continue }
                return Step(kind: .link, link: link, platform: rule.platform)
            }
            if let result = rule.result { return Step(kind: result, link: url.text, platform: rule.platform) }
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether a parameter counts for a device.
    func counts(_ parameter: LinkPlatformImage.Parameter, _ device: DeviceClass) -> Bool {
        parameter.device == nil || parameter.device == device
    }

    // MARK: - Conditions

    private func matches(_ rule: LinkPlatformImage.Rule, _ url: PlatformURL) -> Bool {
        rule.schemes.contains(isWeb: url.isWeb) && (rule.isAnyHost || hasHost(rule, url))
            && hasPath(rule.path, url.path) && hasMark(rule, url.query)
    }

    /// Returns a Boolean value that indicates whether a host is one of the rule's, or below one of its domains.
    ///
    /// A domain begins after a dot, so `evilgo.link` is not below `go.link`.
    private func hasHost(_ rule: LinkPlatformImage.Rule, _ url: PlatformURL) -> Bool {
        for host in rule.hosts {
            let before = url.host.count &- host.name.count
            if before < 0 || (host.isSuffix ? before < 2 : before != 0) { continue }
            if before > 0 && url.host.start[before &- 1] != UInt8(ascii: ".") { continue }
            if ByteScan.equalFolded(url.host.dropFirst(before), host.name) { return url.hasPlainHost }
        }
        return false
    }

    private func hasPath(_ condition: LinkPlatformImage.Path, _ path: ByteView) -> Bool {
        switch condition {
        case .any: return true
        case .exact(let wanted):
            let isLonger = path.count == wanted.count &+ 1 && path.start[wanted.count] == UInt8(ascii: "/")
            return (path.count == wanted.count || isLonger) && path.hasPrefix(wanted)
        case .below(let start):
            guard path.count > start.count, path.hasPrefix(start), path.start[start.count] == UInt8(ascii: "/") else {
                return false
            }
            for index in start.count..<path.count where path.start[index] != UInt8(ascii: "/") { return true }
            return false
        }
    }

    private func hasMark(_ rule: LinkPlatformImage.Rule, _ query: ByteView) -> Bool {
        if rule.marks.isEmpty { return true }
        var items = QueryItems(query)
        while let item = items.next() {
            if hasName(item.name, rule.marks) { return true }
        }
        return false
    }
}
