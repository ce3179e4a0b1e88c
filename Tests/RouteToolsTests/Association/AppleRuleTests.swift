@testable internal import RouteTools
internal import Testing

/// The components of Apple's files: each row of Apple's documentation and of the records of its tool.
@Suite struct AppleRuleTests {
    /// A case: the members of a component, a link, and a Boolean value that indicates whether the component matches.
    struct Case: CustomStringConvertible {
        var component: String
        var link: String
        var matches: Bool
        var variables = "{}"

        init(_ component: String, _ link: String, _ matches: Bool, variables: String = "{}") {
            (self.component, self.link, self.matches, self.variables) = (component, link, matches, variables)
        }

        var description: String { "\(component) \(link)" }
    }

    static func decide(_ file: String, _ link: String) throws -> AppleRules.Decision {
        try AppleFile(Array(file.utf8)).rules.decide(#require(LinkPieces(link)))
    }

    static func file(_ components: String, variables: String = "{}", defaults: String = "") -> String {
        """
        {"applinks": {"substitutionVariables": \(variables),
                      "details": [{"appIDs": ["A.b"], \(defaults) "components": [\(components)]}]}}
        """
    }

    private func check(_ one: Case) throws {
        let decision = try Self.decide(Self.file(one.component, variables: one.variables), one.link)
        #expect(decision.isHanded == one.matches, "\(one)")
    }

    @Test(
        "A path pattern matches whole paths, with `*` for any text and `?` for one character",
        arguments: [
            Case("{}", "https://a.example/x?y=1#z", true),
            Case(#"{"/": "*"}"#, "https://a.example/", true),
            Case(#"{"/": "/buy"}"#, "https://a.example/buy", true),
            Case(#"{"/": "/buy"}"#, "https://a.example/buy2", false),
            Case(#"{"/": "/buy"}"#, "https://a.example/x/buy", false),
            Case(#"{"/": "/buy/*"}"#, "https://a.example/buy/1/2", true),
            Case(#"{"/": "/b*y"}"#, "https://a.example/b/u/y", true),
            Case(#"{"/": "/*a*b"}"#, "https://a.example/xaxbxab", true),
            Case(#"{"/": "/id/????"}"#, "https://a.example/id/4815", true),
            Case(#"{"/": "/id/????"}"#, "https://a.example/id/481", false),
            Case(#"{"/": "/id/?*"}"#, "https://a.example/id/4", true),
            Case(#"{"/": "/id/?*"}"#, "https://a.example/id/", false),
            Case(#"{"/": "/Buy"}"#, "https://a.example/buy", false),
            Case(#"{"/": "/Buy", "caseSensitive": false}"#, "https://a.example/bUY", true),
            Case(#"{"/": "/#/market"}"#, "https://a.example/#/market", false),
            Case(#"{"/": "/buy"}"#, "app://a.example/buy", false),
        ])
    func paths(one: Case) throws { try check(one) }

    @Test(
        "Slashes at the end are insignificant, and the leading slash of a pattern is optional",
        arguments: [
            Case(#"{"/": "/buy"}"#, "https://a.example/buy/", true),
            Case(#"{"/": "/buy/"}"#, "https://a.example/buy", true),
            Case(#"{"/": "/buy"}"#, "https://a.example/buy//", true),
            Case(#"{"/": "/buy/*"}"#, "https://a.example/buy", true),
            Case(#"{"/": "/buy/*"}"#, "https://a.example/buy//", true),
            Case(#"{"/": "/buy/?*"}"#, "https://a.example/buy", false),
            Case(#"{"/": "/id/????"}"#, "https://a.example/id/481/", false),
            Case(#"{"/": "abc"}"#, "https://a.example/abc", true),
            Case(#"{"/": "buy/*"}"#, "https://a.example/buy/42", true),
            Case(#"{"/": "//abc"}"#, "https://a.example/abc", true),
            Case(#"{"/": "/abc"}"#, "https://a.example//abc", false),
            Case(#"{"/": "/"}"#, "https://a.example", true),
            Case(#"{"/": "/"}"#, "https://a.example/", true),
            Case(#"{"/": "/*"}"#, "https://a.example/", true),
            Case(#"{"/": "/"}"#, "https://a.example/x", false),
        ])
    func slashes(one: Case) throws { try check(one) }

    @Test(
        "A query is one text, or items of which each named one must match",
        arguments: [
            Case(#"{"?": "a=1"}"#, "https://a.example/x?a=1", true),
            Case(#"{"?": "a=1"}"#, "https://a.example/x?a=1&b=2", false),
            Case(#"{"?": "?*"}"#, "https://a.example/x", false),
            Case(#"{"?": ""}"#, "https://a.example/x", true),
            Case(#"{"?": {"n": "????"}}"#, "https://a.example/x?n=4815&utm=1", true),
            Case(#"{"?": {"n": "????"}}"#, "https://a.example/x?utm=1&n=4815", true),
            Case(#"{"?": {"n": "????"}}"#, "https://a.example/x?n=481", false),
            Case(#"{"?": {"a": "1", "b": "2"}}"#, "https://a.example/x?b=2&a=1", true),
            Case(#"{"?": {"a": "1", "b": "2"}}"#, "https://a.example/x?a=1", false),
            Case(#"{"?": {"b": "*"}}"#, "https://a.example/x", true),
            Case(#"{"?": {"b": ""}}"#, "https://a.example/x", true),
            Case(#"{"?": {"b": "?*"}}"#, "https://a.example/x", false),
            Case(#"{"?": {"b": "?*"}}"#, "https://a.example/x?b", false),
            Case(#"{"?": {"id": "42"}}"#, "https://a.example/x?id=7&id=42", false),
            Case(#"{"?": {"id": "42"}}"#, "https://a.example/x?id=42&id=7", false),
            Case(#"{"?": {"id": "7"}}"#, "https://a.example/x?id=7&id=7", true),
            Case(#"{"?": {"a": "1", "flag": true}}"#, "https://a.example/x?a=2", true),
            Case(#"{"?": {"Id": "1"}}"#, "https://a.example/x?id=1", false),
            Case(#"{"?": {"Id": "1"}, "caseSensitive": false}"#, "https://a.example/x?id=1", true),
            Case(#"{"?": {"Id": "?"}, "caseSensitive": false}"#, "https://a.example/x?id=22", false),
        ])
    func queries(one: Case) throws { try check(one) }

    @Test(
        "A fragment is a text of its own, and an absent one is empty",
        arguments: [
            Case(##"{"#": "*"}"##, "https://a.example/x", true),
            Case(##"{"#": "s?"}"##, "https://a.example/x#s1", true),
            Case(##"{"#": "s?"}"##, "https://a.example/x", false),
            Case(##"{"#": ""}"##, "https://a.example/x", true),
        ])
    func fragments(one: Case) throws { try check(one) }

    @Test(
        "Escapes are compared as written unless `percentEncoded` is false",
        arguments: [
            Case(#"{"/": "/a%20b"}"#, "https://a.example/a%20b", true),
            Case(#"{"/": "/a b"}"#, "https://a.example/a%20b", false),
            Case(#"{"/": "/a%c3b"}"#, "https://a.example/a%C3b", false),
            Case(#"{"/": "/a/b"}"#, "https://a.example/a%2Fb", false),
            Case(#"{"/": "/a b", "percentEncoded": false}"#, "https://a.example/a%20b", true),
            Case(#"{"/": "/a%20b", "percentEncoded": false}"#, "https://a.example/a%20b", false),
            Case(#"{"/": "/café/*", "percentEncoded": false}"#, "https://a.example/caf%C3%A9/menu", true),
            Case(#"{"/": "/caf?", "percentEncoded": false}"#, "https://a.example/caf%C3%A9", true),
            Case(#"{"/": "/100%zz"}"#, "https://a.example/100%zz", true),
            Case(#"{"?": {"a": "b c"}, "percentEncoded": false}"#, "https://a.example/?a=b%20c", true),
        ])
    func escapes(one: Case) throws { try check(one) }

    private static let food = #"{"food": ["burrito", "pizza", "s?shi"], "Any": ["x*"], "$(a)": ["b"]}"#

    @Test(
        "A variable stands for one of its values, and an undefined one matches nothing",
        arguments: [
            Case(#"{"/": "/$(food)/*"}"#, "https://a.example/pizza/1", true, variables: food),
            Case(#"{"/": "/$(food)"}"#, "https://a.example/sushi", true, variables: food),
            Case(#"{"/": "/$(food)"}"#, "https://a.example/taco", false, variables: food),
            Case(#"{"/": "/$(Food)"}"#, "https://a.example/pizza", false, variables: food),
            Case(#"{"/": "/$(Any)z"}"#, "https://a.example/xyz", true, variables: food),
            Case(#"{"/": "/$(food)"}"#, "https://a.example/Pizza", false, variables: food),
            Case(#"{"/": "/$(food)", "caseSensitive": false}"#, "https://a.example/Pizza", true, variables: food),
            Case(#"{"/": "/$(digit)$(digit)"}"#, "https://a.example/42", true),
            Case(#"{"/": "/$(digit)$(digit)"}"#, "https://a.example/4", false),
            Case(#"{"/": "/$(upper)"}"#, "https://a.example/a", false),
            Case(#"{"/": "/$(upper)", "caseSensitive": false}"#, "https://a.example/a", true),
            Case(#"{"/": "/$(alpha)$(lower)$(alnum)$(xdigit)"}"#, "https://a.example/Zz0F", true),
            Case(#"{"/": "/$(xdigit)"}"#, "https://a.example/g", false),
            Case(#"{"/": "/$(lang)/*"}"#, "https://a.example/de/1", true),
            Case(#"{"/": "/$(region)"}"#, "https://a.example/GB", true),
            Case(#"{"/": "/$(region)"}"#, "https://a.example/UK", false),
            Case(#"{"/": "/$(none)"}"#, "https://a.example/none", false),
            Case(#"{"/": "/*", "?": {"a": "$(none)"}}"#, "https://a.example/x?a=1", false),
        ])
    func variables(one: Case) throws { try check(one) }

    @Test("The codes of languages and regions are complete lists, each once")
    func codes() throws {
        for (name, count, isCode) in [
            ("lang", 183, { (code: String) in code.utf8.allSatisfy { (0x61...0x7A).contains($0) } }),
            ("region", 250, { (code: String) in code.utf8.allSatisfy { (0x41...0x5A).contains($0) } }),
        ] {
            let codes = try #require(AppleVariables.codes(name))
            #expect(codes.count == count && Set(codes).count == count, "\(name)")
            #expect(codes.allSatisfy { $0.utf8.count == 2 && isCode($0) }, "\(name)")
        }
        #expect(AppleVariables.codes("language") == nil)
    }

    @Test("The first component that matches decides, and an exclusion ends the search")
    func order() throws {
        let file = Self.file(#"{"/": "/buy/old", "exclude": true}, {"/": "/buy/*"}, {"/": "/buy/old"}"#)
        #expect(try Self.decide(file, "https://a.example/buy/old") == .init(isHanded: false, rule: 0))
        #expect(try Self.decide(file, "https://a.example/buy/new") == .init(isHanded: true, rule: 1))
        #expect(try Self.decide(file, "https://a.example/sell") == .init(isHanded: false, rule: nil))
    }

    @Test("All given parts of a component must match")
    func allParts() throws {
        let file = Self.file(##"{"/": "abc", "?": "def", "#": "*"}"##)
        #expect(try Self.decide(file, "https://a.example/abc?def").isHanded)
        #expect(try !Self.decide(file, "https://a.example/abc").isHanded)
        #expect(try !Self.decide(file, "https://a.example/ab?def").isHanded)
    }

    @Test("The nearest of three levels of defaults determines the value of each key")
    func defaults() throws {
        let file = """
            {"applinks": {"defaults": {"caseSensitive": false, "/": "/x"}, "details": [
              {"appID": "A.b", "defaults": {"exclude": true}, "components": [{"exclude": false}, {"/": "/y"}]},
              {"appIDs": ["C.d"], "defaults": {"caseSensitive": true}, "components": [{"/": "/z"}]}]}}
            """
        #expect(try Self.decide(file, "https://a.example/X").isHanded)
        #expect(try Self.decide(file, "https://a.example/Y") == .init(isHanded: false, rule: 1))
        #expect(try Self.decide(file, "https://a.example/z").isHanded)
        #expect(try !Self.decide(file, "https://a.example/Z").isHanded)
    }

    @Test("The older forms of a file are read: paths with NOT, and details by app")
    func legacy() throws {
        let paths = """
            {"applinks": {"apps": [], "details": [{"appID": "A.b", "paths": ["NOT /a/b", "/a/*", "*c"]}]}}
            """
        #expect(try !Self.decide(paths, "https://a.example/a/b").isHanded)
        #expect(try Self.decide(paths, "https://a.example/a/x").isHanded)
        #expect(try Self.decide(paths, "https://a.example/xc").isHanded)
        let byApp = """
            {"applinks": {"details": {"B.b": {"paths": ["/b"]}, "A.a": {"paths": ["/a"]}}}}
            """
        #expect(try Self.decide(byApp, "https://a.example/a") == .init(isHanded: true, rule: 0))
        #expect(try Self.decide(byApp, "https://a.example/b") == .init(isHanded: true, rule: 1))
    }

    @Test("Each app has its own components, and a link is handed over if any app receives it")
    func apps() throws {
        let file = """
            {"applinks": {"details": [
              {"appIDs": ["A.a"], "components": [{"/": "/x", "exclude": true}]},
              {"appIDs": ["B.b"], "components": [{"/": "/x"}]},
              {"appIDs": ["A.a"], "components": [{"/": "/x"}, {"/": "/y"}]}]}}
            """
        #expect(try Self.decide(file, "https://a.example/x") == .init(isHanded: true, rule: 1))
        #expect(try Self.decide(file, "https://a.example/y") == .init(isHanded: true, rule: 3))
    }
}
