import Testing

/// A shape of tables that grow with their number of routes.
struct LoadShape: Sendable, CustomTestStringConvertible {
    /// A description of the shape.
    var testDescription: String
    /// Returns the link block, by the number of routes.
    var link: @Sendable (Int) -> String = { _ in #"{ "schemes": ["t"], "host": "authority", "hosts": ["*"] }"# }
    /// Returns the members of the table before its routes, by the number of routes.
    var head: @Sendable (Int) -> String = { _ in bound }
    /// Returns the members of a route except its id, by its number and the number of routes.
    var route: @Sendable (Int, Int) -> String
    /// Returns the examples, by the number of routes.
    var examples: @Sendable (Int) -> String = { _ in "" }
    /// A Boolean value that indicates whether the table is refused.
    var isRefused = false

    /// The shape of a table that is refused.
    private var refused: LoadShape {
        var shape = self
        shape.isRefused = true
        return shape
    }

    /// Returns the table with the given number of routes.
    func file(_ count: Int) -> [UInt8] {
        let routes = (0..<count).map { #"{ "id": "r\#($0)", \#(route($0, count)) }"# }.joined(separator: ",\n")
        return Array(
            """
            { "schemaVersion": 1, "table": { "id": "load", "version": "1" }, "link": \(link(count)),
              \(head(count)) "routes": [ \(routes) ], "examples": [ \(examples(count)) ] }
            """.utf8)
    }

    private static func list(_ count: Int, _ separator: String = ", ", _ one: (Int) -> String) -> String {
        (0..<count).map(one).joined(separator: separator)
    }

    static let bound =
        #""models": { "A": { "id": "uuid", "n": "int(1..99)" } }, "#
        + #""coordinators": { "c": { "initial": "i", "screens": { "i": {}, "s": { "needs": ["A"] } } } },"#
    private static let plain =
        #""coordinators": { "c": { "initial": "i", "screens": { "i": {}, "s": {} } } },"#
    private static let bind = #""bind": { "A": { "id": "path.id", "n": "path.n" } }, "to": { "path": "/c/s" }"#
    private static let to = #""to": { "path": "/c/s" }"#
    private static let captures = "{id:uuid}/{n:int(1..9)}"

    static let all: [LoadShape] = bindings + patterns + overlaps + redirects + screens + origins

    private static let bindings = [
        LoadShape(testDescription: "two bound captures") { i, _ in #""match": "/t\#(i)/\#(captures)", \#(bind)"# },
        LoadShape(
            testDescription: "a separate model for each route",
            head: { n in
                let models = list(n) { #""A\#($0)": { "id": "uuid", "n": "int" }"# }
                let screens = list(n) { #""s\#($0)": { "needs": ["A\#($0)"] }"# }
                return #""models": { \#(models) }, "coordinators": { "c": { "screens": { \#(screens) } } },"#
            },
            route: { i, _ in
                #""match": "/t\#(i)/\#(captures)", "to": { "path": "/c/s\#(i)" }, "#
                    + #""bind": { "A\#(i)": { "id": "path.id", "n": "path.n" } }"#
            }),
        LoadShape(
            testDescription: "one model with a field for each route",
            head: { n in
                #""models": { "A": { \#(list(n) { #""f\#($0)": "int?""# }) } }, "#
                    + #""coordinators": { "c": { "screens": { "s": { "needs": ["A"] } } } },"#
            },
            route: { i, n in
                let fields = i == 0 ? list(n) { #""f\#($0)": "query.f\#($0)""# } : #""f\#(i)": "query.q""#
                let target = i == 0 ? to : #""to": { "root": true }"#
                return #""match": "/t\#(i)", "bind": { "A": { \#(fields) } }, \#(target)"#
            }),
        LoadShape(testDescription: "captures with different names in each route") { i, _ in
            #""match": "/t\#(i)/{id\#(i):uuid}/{n\#(i):int(1..9)}", "to": { "path": "/c/s" }, "#
                + #""bind": { "A": { "id": "path.id\#(i)", "n": "path.n\#(i)" } }"#
        },
        LoadShape(
            testDescription: "an example for each route",
            route: { i, _ in #""match": "/t\#(i)/\#(captures)", \#(bind)"# },
            examples: { n in
                list(n) {
                    #"{ "link": "t://h/t\#($0)/80674450-AAEC-4704-9D0F-63C7B2068FF1/3", "route": "r\#($0)" }"#
                }
            }),
    ]

    private static let patterns = [
        LoadShape(testDescription: "four aliases each") { i, _ in
            let aliases = ["u", "v", "w", "x"].map { #""/\#($0)\#(i)/\#(captures)""# }.joined(separator: ", ")
            return #""match": "/t\#(i)/\#(captures)", "alias": [\#(aliases)], \#(bind)"#
        },
        LoadShape(testDescription: "one route with as many aliases as there are routes") { i, n in
            if i > 0 { return #""match": "/z/\#(i)", "to": { "root": true }"# }
            return #""match": "/t/\#(captures)", \#(bind), "alias": [\#(list(n) { #""/t\#($0)/\#(captures)""# })]"#
        },
        LoadShape(testDescription: "four variants each") { i, _ in
            let when = [#""app": ">=\#(i)""#, #""claim": "c\#(i)""#, #""attributes": { "a\#(i)": "x" }"#]
            let variants = when.map { #"{ "when": { \#($0) }, \#(to) }, "# }.joined()
            return #""match": "/t\#(i)/\#(captures)", "variants": [\#(variants) { "to": { "path": "/c/i" } }], "#
                + #""bind": { "A": { "id": "path.id", "n": "path.n" } }"#
        },
        LoadShape(testDescription: "one value of the query each") { i, _ in
            #""match": "/t/\#(captures)", "query": { "k": "v\#(i)" }, \#(bind)"#
        },
        LoadShape(testDescription: "one range of numbers each") { i, _ in
            #""match": "/{n:int(\#(i)..\#(i))}/{id:uuid}", \#(bind)"#
        },
        LoadShape(testDescription: "one enum each", head: { _ in plain }) { i, _ in
            #""match": "/{e:enum(a\#(i)|b\#(i)|c\#(i))}/x", \#(to)"#
        },
        LoadShape(testDescription: "one route that overlaps with all others", head: { _ in plain }) { i, n in
            if i > 0 { return #""match": "/t\#(i)/{b}", \#(to)"# }
            return #""match": "/{a}/x", \#(to), "overlaps": [\#((1..<n).map { #""r\#($0)""# }.joined(separator: ","))]"#
        },
    ]

    private static let overlaps = [
        LoadShape(testDescription: "one name of the query each", head: { _ in plain }) { i, _ in
            #""match": "/t", "query": { "k\#(i)": "*" }, "priority": \#(i), \#(to)"#
        }.refused,
        LoadShape(testDescription: "one anySegment each", head: { _ in plain }) { i, _ in
            #""match": { "anySegment": "t\#(i)" }, \#(to)"#
        }.refused,
        LoadShape(testDescription: "one pattern for all") { _, _ in #""match": "/t/\#(captures)", \#(bind)"# }.refused,
        LoadShape(testDescription: "one pattern twice for each") { i, n in
            #""match": "/t\#(i % (n / 2))/\#(captures)", \#(bind)"#
        }.refused,
        LoadShape(testDescription: "one value and one name of the query each", head: { _ in plain }) { i, _ in
            #""match": "/t", "query": { "k": "v\#(i)", "k\#(i)": "x" }, \#(to)"#
        },
    ]

    private static let redirects = [
        LoadShape(testDescription: "redirects by id to one route") { i, _ in
            #""match": "/t\#(i)/\#(captures)", "# + (i == 0 ? bind : #""redirect": "r0""#)
        },
        LoadShape(testDescription: "a redirect by id for every other route") { i, _ in
            #""match": "/t\#(i)/\#(captures)", "# + (i % 2 == 0 ? bind : #""redirect": "r\#(i - 1)""#)
        },
        LoadShape(testDescription: "a redirect by a path for every other route", head: { _ in plain }) { i, _ in
            #""match": "/t\#(i)", "# + (i % 2 == 0 ? to : #""redirect": "/t\#(i - 1)""#)
        },
        LoadShape(testDescription: "a redirect by a template for every other route") { i, _ in
            #""match": "/t\#(i)/\#(captures)", "# + (i % 2 == 0 ? bind : #""redirect": "/t\#(i - 1)/{id}/{n}""#)
        },
        LoadShape(testDescription: "one long chain of redirects") { i, _ in
            #""match": "/t\#(i)/\#(captures)", "# + (i == 0 ? bind : #""redirect": "r\#(i - 1)""#)
        }.refused,
        LoadShape(testDescription: "redirects to a path that all of them match", head: { _ in plain }) { i, _ in
            #""match": "/t", "query": { "k": "v\#(i)" }, "redirect": "/t""#
        }.refused,
        LoadShape(testDescription: "parents by id from one route", head: { _ in plain }) { i, _ in
            #""match": "/t\#(i)", "#
                + (i == 0 ? to : #""to": { "path": "/c/s", "parents": "route:r0" }"#)
        },
        LoadShape(testDescription: "chains of eight parents by id", head: { _ in plain }) { i, _ in
            #""match": "/t\#(i)", "#
                + (i % 8 == 0 ? to : #""to": { "path": "/c/s", "parents": "route:r\#(i - 1)" }"#)
        },
    ]

    private static let screens = [
        LoadShape(
            testDescription: "a screen each, displayed by another's view",
            head: { n in
                let screens = list(n) { #""s\#($0)": { "view": "s\#(($0 + 1) % n)" }"# }
                return #""coordinators": { "c": { "screens": { \#(screens) } } },"#
            },
            route: { i, _ in #""match": "/t\#(i)", "to": { "path": "/c/s\#(i)" }"# }),
        LoadShape(
            testDescription: "a coordinator each, with views and parents",
            head: { n in
                let own = list(n) {
                    let parent = $0 % 10 == 0 ? "" : #", "parent": "c\#($0 - 1)""#
                    let screens = #""s": { "view": "t\#($0)" }, "t\#($0)": {}"#
                    return #""c\#($0)": { "initial": "s", "screens": { \#(screens) }\#(parent) }"#
                }
                return #""coordinators": { \#(own) },"#
            },
            route: { i, _ in #""match": "/t\#(i)", "to": { "path": "/c\#(i)/t\#(i)", "parents": "initial" }"# }),
        chain(testDescription: "one long chain of coordinators", initial: "", to: #""parents": "initial""#),
        chain(testDescription: "one long chain of coordinators with initial screens", initial: #""initial": "s", "#),
        chain(
            testDescription: "stacks of one long chain of coordinators", initial: #""initial": "s", "#,
            to: #""parents": "initial""#
        ).refused,
        LoadShape(
            testDescription: "a guard and a capability each",
            head: { n in
                let capabilities = list(n) { #""k\#($0)": { "minApp": "\#($0)" }"# }
                let guards = list(n) { #""g\#($0)": { "claim": "c\#($0)", "else": { "to": { "root": true } } }"# }
                let own = list(n) {
                    #""c\#($0)": { "guard": "g\#($0)", "screens": { "s": { "requires": ["k\#($0)"] } } }"#
                }
                return #""capabilities": { \#(capabilities) }, "guards": { \#(guards) }, "coordinators": { \#(own) },"#
            },
            route: { i, _ in #""match": "/t\#(i)", "to": { "path": "/c\#(i)/s" }"# }),
        LoadShape(
            testDescription: "a var each",
            head: { n in #""vars": { \#(list(n) { #""v\#($0)": "t\#($0)""# }) }, "# + bound },
            route: { i, _ in #""match": "/<v\#(i)>/\#(captures)", \#(bind)"# }),
    ]

    /// Returns a shape of coordinators, each of which is the parent of the next one, with a route to each.
    private static func chain(testDescription: String, initial: String, to more: String = "") -> LoadShape {
        LoadShape(
            testDescription: testDescription,
            head: { n in
                let own = list(n) {
                    let parent = $0 == 0 ? "" : #", "parent": "c\#($0 - 1)""#
                    return #""c\#($0)": { \#(initial)"screens": { "s": {}, "t": {} }\#(parent) }"#
                }
                return #""coordinators": { \#(own) },"#
            },
            route: { i, _ in
                #""match": "/t\#(i)", "to": { "path": "/c\#(i)/t"\#(more.isEmpty ? "" : ", \(more)") }"#
            })
    }

    /// Returns a link block for each of several schemes, with one host each.
    private static func blocks(_ count: Int, host: (Int) -> String) -> String {
        "[" + list(count) { #"{ "schemes": ["s\#($0)"], "host": "authority", "hosts": ["\#(host($0))"] }"# } + "]"
    }

    private static let origins = [
        LoadShape(
            testDescription: "a link block each", link: { n in blocks(n) { _ in "*" } },
            route: { i, _ in #""match": "/t\#(i)/\#(captures)", \#(bind)"# }),
        LoadShape(
            testDescription: "a link block and a host each", link: { n in blocks(n) { "h\($0).example" } },
            route: { i, _ in #""match": { "host": "h\#(i).example", "path": "/t/\#(captures)" }, \#(bind)"# }),
        LoadShape(
            testDescription: "a link block and a scheme each", link: { n in blocks(n) { _ in "*" } },
            route: { i, _ in #""match": { "scheme": "s\#(i)", "path": "/t/\#(captures)" }, \#(bind)"# }),
        LoadShape(
            testDescription: "a rewrite each",
            link: { n in
                #"{ "schemes": ["t"], "host": "authority", "hosts": ["*"], "rewrites": ["#
                    + list(n) { #"{ "stripPrefix": "/w\#($0)" }"# } + "] }"
            }, route: { i, _ in #""match": "/t\#(i)/\#(captures)", \#(bind)"# }),
        LoadShape(
            testDescription: "a host each",
            link: { n in
                #"{ "schemes": ["t"], "host": "authority", "hosts": [\#(list(n) { #""h\#($0).example""# })] }"#
            }, route: { i, _ in #""match": { "host": "h\#(i).example", "path": "/t/\#(captures)" }, \#(bind)"# }),
        LoadShape(
            testDescription: "a scheme each",
            link: { n in #"{ "schemes": [\#(list(n) { #""s\#($0)""# })], "host": "authority", "hosts": ["*"] }"# },
            route: { i, _ in #""match": { "scheme": "s\#(i)", "path": "/t/\#(captures)" }, \#(bind)"# }),
    ]
}
