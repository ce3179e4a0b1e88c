package import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

extension RouteTable {
    /// Returns the pattern that a link selects before redirects are followed, or nil if no pattern matches.
    ///
    /// - Returns: The route's id, and the pattern in the form that an explanation uses.
    package func selection(of link: String) -> (route: String, pattern: String)? { selection(of: .link(link)) }

    /// Returns the pattern that a link, or the link of a payload, selects before redirects are followed.
    ///
    /// Returns nil if no pattern matches, and for other requests.
    func selection(of request: LinkRequest, device: DeviceFacts = DeviceFacts()) -> (route: String, pattern: String)? {
        var resolver = Resolver()
        var found: Ref<CompiledPattern>?
        device.withFacts { facts in
            request.withRequest { request in
                withUnsafePointer(to: facts) { facts in
                    withUnsafePointer(to: request) { request in
                        resolver.start(request, facts, table: compiled.handle)
                        guard (try? resolver.normalizeLink(of: request)) == true else { return }
                        resolver.splitQuery()
                        found = resolver.search()
                    }
                }
            }
        }
        guard let found else { return nil }
        let route = source.routes[Int(found.route)]
        let first = Int(compiled.data.routes[Int(found.route)].firstPattern)
        return (route.id.value, route.patterns[compiled.data.number(of: found) - first].text)
    }
}

extension Resolver {
    /// Normalizes a link or the link of a payload; returns false if there is none.
    fileprivate mutating func normalizeLink(of request: UnsafePointer<RequestView>) throws(Rejection) -> Bool {
        switch request.pointee.form {
        case .link: selection.path = try normalize(request.pointee.text)
        case .payload:
            let link = try findPayloadLink()
            if link.isEmpty { return false }
            selection.path = try normalize(link)
        case .path, .route: return false
        }
        return true
    }
}
