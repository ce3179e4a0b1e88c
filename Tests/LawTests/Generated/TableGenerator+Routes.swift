import LinkCoordinator

// Generates the routes of tables.
extension TableGenerator {
    /// Returns a route of a random kind.
    ///
    /// `ids` has the ids of all routes of the table.
    mutating func route(_ id: String, of ids: [String], _ models: Models) -> GeneratedTable.Route {
        let text = patterns.patternText()
        let captures = (try? PatternParser.parse(text, foldsCase: false))?.first?.captures ?? []
        var members: [String] = []
        if !one(in: 20) { members.append("\"match\": " + match(text)) }
        if !members.isEmpty, one(in: 6) { members.append("\"alias\": [\(match(patterns.patternText()))]") }
        if one(in: 4) { members.append("\"query\": { \(constraint()) }") }
        if one(in: 6) { members.append("\"priority\": \(pick([-1, 1, 2]))") }
        let kind = Int.random(in: 0..<20, using: &patterns.generator)
        let redirects = options.redirectsMore ? 13 : 3
        if kind < redirects {
            members.append("\"redirect\": \"\(redirect(captures, ids))\"")
            return GeneratedTable.Route(id: id, members: members)
        }
        if kind == redirects {
            members.append("\"exclude\": { \"outcome\": \"\(pick(["external", "none", "reject"]))\" }")
            return GeneratedTable.Route(id: id, members: members)
        }
        if kind > redirects + 3, options.variantsMore || one(in: 3) {
            members.append("\"variants\": " + variants(captures, ids))
        } else {
            members.append("\"to\": " + target(captures, ids))
        }
        members.append("\"bind\": " + bindings(captures, models))
        members += switches()
        return GeneratedTable.Route(id: id, members: members)
    }

    private mutating func match(_ text: String) -> String {
        if one(in: 20) { return "{ \"anySegment\": \"\(pick(["a", "x", "7", "feed"]))\" }" }
        if !one(in: 4) { return "\"\(text)\"" }
        let rules = pick([
            "\"scheme\": \"s\"", "\"scheme\": \"t\"", "\"host\": \"a.example\"", "\"host\": \"*.a.example\"",
            "\"host\": \"b.example:8080\"", "\"host\": \"\"", "\"scheme\": \"s\", \"host\": \"*.b.a.example\"",
        ])
        return "{ \"path\": \"\(text)\", \(rules) }"
    }

    private mutating func constraint() -> String {
        pick([
            "\"mode\": \"ar\"", "\"mode\": \"*\"", "\"mode\": null", "\"mode\": \"ar\", \"w\": \"*\"", "\"w\": \"1\"",
        ])
    }

    private mutating func redirect(_ captures: [Capture], _ ids: [String]) -> String {
        if one(in: 3) { return pick(ids) }
        var text = ""
        for _ in 0..<Int.random(in: 0...2, using: &patterns.generator) {
            text += "/" + pick(["a", "b", "x", "7", "12", "home", "ab"])
        }
        for capture in captures where !one(in: 3) {
            text += "/" + (!capture.isTail && one(in: 4) ? "a" : "") + "{\(capture.name)}"
        }
        return text.isEmpty ? "/" : text
    }

    // MARK: Targets

    private static let paths = [
        "/home", "/home/feed", "/home/item", "/home/note", "/shop/list/item", "/shop/item", "/home/item/shop/item",
        "/acc/order", "/acc", "/acc/profile/order", "/home/card", "/shop/ar", "/shop/item/ar", "/home/item",
        "/home/feed/acc/order/home/item", "/home/card/item",
    ]

    private mutating func target(_ captures: [Capture], _ ids: [String]) -> String {
        if captures.last?.matcher == .coordinatorPath, !one(in: 4) {
            let name = captures.last?.name ?? ""
            return "{ \"path\": \"{\(name)}\"\(targetSwitches(ids)) }"
        }
        if one(in: 12) { return #"{ "root": true, "dismissModals": true }"# }
        if one(in: 10) { return "{ \"external\": \"\(external(captures))\" }" }
        return "{ \"path\": \"\(pick(Self.paths))\"\(targetSwitches(ids)) }"
    }

    private mutating func targetSwitches(_ ids: [String]) -> String {
        var members = ""
        if one(in: 4) { members += ", \"mode\": \"\(pick(["replace", "append", "reuse"]))\"" }
        if one(in: 2) {
            members +=
                ", \"parents\": "
                + pick([
                    "\"initial\"", options.variantsMore ? "\"route:\(pick(ids))\"" : "\"initial\"", "\"none\"",
                    "\"route:\(pick(ids))\"", "[\"/home\", \"/shop/item\"]",
                ])
        }
        if one(in: 6) { members += ", \"dismissModals\": true" }
        return members
    }

    private mutating func external(_ captures: [Capture]) -> String {
        var text = "https://e.example/p"
        for capture in captures where !one(in: 3) { text += "/{\(capture.name)}" }
        return text + pick(["", "?q={query.q}", "#top"])
    }

    private mutating func variants(_ captures: [Capture], _ ids: [String]) -> String {
        var conditions = [
            #""app": ">=2.0""#, #""app": ">3.1""#, #""os": ">=2""#, #""capability": "cap""#,
            #""capability": ["cap", "listed"]"#, #""platform": "ios""#, #""platform": ["android", "ios"]"#,
            #""query": { "mode": "ar" }"#, #""query": { "w": "*" }"#, #""locale": "en""#, #""region": "GB""#,
            #""attributes": { "tier": ["gold", "silver"] }"#,
        ]
        if !options.isMonotone { conditions += [#""app": ">=1 <3""#, #""app": "=4.0.0""#, #""os": "<2""#] }
        if options.hasClaimConditions { conditions += [#""claim": "session""#, #""claim": ["session", "vip"]"#] }
        var list: [String] = []
        for _ in 0..<Int.random(in: 1...2, using: &patterns.generator) {
            let notice = one(in: 5) ? #", "notice": "/sys/update""# : ""
            list.append("{ \"when\": { \(pick(conditions)) }, \"to\": \(target(captures, ids))\(notice) }")
        }
        list.append("{ \"to\": \(target(captures, ids)) }")
        return "[" + list.joined(separator: ", ") + "]"
    }

    // MARK: Bindings

    private mutating func bindings(_ captures: [Capture], _ models: Models) -> String {
        var item: [String] = []
        var text: [String] = []
        if !one(in: 8) { item.append("\"id\": " + source(for: models.id, captures, query: "id")) }
        if !one(in: 3) { item.append("\"count\": " + source(for: models.count, captures, query: "count")) }
        if !one(in: 4) { text.append("\"text\": " + source(for: models.text, captures, query: "q")) }
        if !one(in: 3) {
            let tail = captures.first { $0.matcher == .restPlus || $0.matcher == .restStar }
            let source = tail.map { one(in: 2) ? "path.\($0.name)" : "query.tag" } ?? "query.tag"
            text.append("\"tags\": \"\(source)\"")
        }
        return "{ \"Item\": { \(item.joined(separator: ", ")) }, \"Text\": { \(text.joined(separator: ", ")) } }"
    }

    private mutating func source(for type: String, _ captures: [Capture], query: String) -> String {
        let fitting = captures.filter { !$0.isTail && Self.fits($0.matcher, type) }
        if let capture = fitting.first, !one(in: 4) { return "\"path.\(capture.name)\"" }
        if one(in: 10) { return "\"fragment\"" }
        if one(in: 12) { return "\"payload./x/\(query)\"" }
        if one(in: 12), type.hasPrefix("string") { return #"{ "const": "abc" }"# }
        return "\"query.\(query)\""
    }

    private static func fits(_ matcher: Matcher, _ type: String) -> Bool {
        if type.hasPrefix("string") { return true }
        switch matcher {
        case .any, .characters: return true
        case .int: return type.hasPrefix("int")
        case .uuid: return type.hasPrefix("uuid")
        case .bool: return type.hasPrefix("bool")
        case .date: return type.hasPrefix("date")
        case .enumeration: return type.hasPrefix("enum")
        default: return false
        }
    }

    private mutating func switches() -> [String] {
        var members: [String] = []
        if one(in: 4) { members.append("\"onInvalid\": \"drop\"") }
        if one(in: 8) { members.append("\"requireAll\": true") }
        if one(in: 2) { members.append("\"unknownScreen\": \"\(pick(["reject", "skip", "truncate"]))\"") }
        if one(in: 3) {
            let other = pick([
                "\"truncate\"", "\"fallback\"", #"{ "to": { "path": "/home/feed" } }"#,
                #"{ "to": { "path": "/acc/profile", "parents": "initial" } }"#,
            ])
            members.append("\"unsupported\": \(other)")
        }
        if one(in: 8) { members.append(#""notice": "/sys/update""#) }
        return members
    }
}
