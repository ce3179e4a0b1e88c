internal import StrictJSON

extension Table {
    /// The pattern that a link selects, before any redirect is followed; nil where none takes it.
    ///
    /// - Returns: The route's id and the pattern as an explanation names it.
    package func selection(of link: String) -> (route: String, pattern: String)? {
        var resolver = Resolver()
        var found = -1
        Device().withFacts { facts in
            _ = Request.link(link).withRequest { request in
                withUnsafePointer(to: facts) { facts in
                    withUnsafePointer(to: request) { request in
                        resolver.start(request, facts, table: compiled.handle)
                        guard (try? resolver.normalise(request.pointee.text)) != nil else { return }
                        resolver.splitQuery()
                        found = resolver.search()
                    }
                }
            }
        }
        guard found >= 0 else { return nil }
        let image = compiled.image.value
        let route = source.routes[Int(image.patterns[found].route)]
        let first = Int(image.routes[Int(image.patterns[found].route)].firstPattern)
        return (route.id.value, route.patterns[found - first].text)
    }
}
