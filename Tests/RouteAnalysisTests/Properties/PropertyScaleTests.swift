import LinkCoordinator
import RouteAnalysis
import Testing

@Suite("The work for properties of large tables")
struct PropertyScaleTests {
    /// A table with 1,000 routes of ten kinds, and 20 coordinators with 12 screens each.
    private static func table() throws -> RouteTable {
        let coordinators = (0..<20).map { number in
            let screens = (0..<10).map {
                $0 % 3 == 0 ? ##""s\##($0)": { "since": "\##($0 % 7).\##(number % 5)" }"## : ##""s\##($0)": {}"##
            }
            let guarding = number % 4 == 0 ? ##""guard": "in", "## : ""
            return ##"""
                "c\##(number)": { \##(guarding)"initial": "s1", "screens": { \##(screens.joined(separator: ", ")),
                  "d": { "needs": ["M"] }, "k": { "present": ["cover"], "requires": ["ar"] } } }
                """##
        }
        let file = ##"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s", "https"], "host": "authority", "hosts": ["h.example", "*.h.example", ""],
                "payload": { "link": ["/l"], "route": "/r" }, "rewrites": [ { "stripPrefix": "/{l:enum(en|de)}" } ] },
              "models": { "M": { "n": "int(1..9)" } },
              "capabilities": { "ar": { "platforms": ["ios"], "listed": true } },
              "guards": { "in": { "claim": "session", "else": { "to": { "path": "/login/form" } } } },
              "coordinators": { "login": { "screens": { "form": {} } }, \##(coordinators.joined(separator: ",\n")) },
              "externals": { "hosts": ["h.example", "*.h.example"] },
              "routes": [ \##((0..<1_000).map(route).joined(separator: ",\n")) ] }
            """##
        return try RouteTable(json: file.utf8)
    }

    private static func route(_ number: Int) -> String {
        let own = ##""id": "r\##(number)", "match": "/a\##(number)"##
        let (c, s) = ("c\(number % 20)", "s\(number % 10)")
        switch number % 10 {
        case 0:
            return ##"{ \##(own)/{n:int(1..9)}", "bind": { "M": { "n": "path.n" } }, "to": { "path": "/\##(c)/d" } }"##
        case 1: return ##"{ \##(own)/{n:int(1..9)}", "redirect": "/a\##(number - 1)/{n}" }"##
        case 2:
            return ##"""
                { \##(own)", "variants": [
                  { "when": { "app": ">=\##(number % 9 + 1).\##(number % 5)" }, "to": { "path": "/\##(c)/\##(s)" } },
                  { "when": { "platform": "android", "claim": "vip" }, "to": { "path": "/\##(c)/s1" } },
                  { "to": { "external": "https://h.example/a\##(number)" }, "notice": "/login/form" } ] }
                """##
        case 3: return ##"{ \##(own)/{rest+}", "to": { "external": "https://h.example/x/{rest}" } }"##
        case 4: return ##"{ \##(own)", "bind": { "M": { "n": "query.n" } }, "to": { "path": "/\##(c)/d" } }"##
        case 5: return ##"{ \##(own)/{p:coordinatorPath}", "unknownScreen": "skip", "to": { "path": "{p}" } }"##
        case 6:
            return
                ##"{ \##(own)", "unsupported": { "to": { "path": "/login/form" } }, "to": { "path": "/\##(c)/k" } }"##
        case 7: return ##"{ \##(own)/x", "query": { "u": "1" }, "to": { "path": "/\##(c)/\##(s)" } }"##
        case 8: return ##"{ "id": "r\##(number)", "to": { "path": "/\##(c)/\##(s)" } }"##
        default:
            let outcome = number % 20 < 10 ? "none" : "external"
            return ##"{ \##(own)/{rest*}", "exclude": { "outcome": "\##(outcome)" } }"##
        }
    }

    private static let properties: [String] =
        (0..<5).map { ##""when": { "without": "session" }, "never": { "screens": "c\##($0 * 4).*" }"## }
        + (0..<5).map { ##""when": { "platform": "android", "app": ">=\##($0)" }, "never": { "present": "cover" }"## }
        + (0..<5).map { ##""links": "/a\##($0 * 10)/{n:int(1..9)}", "never": { "outcome": "none" }"## }
        + (0..<5).map { ##""links": "/a\##($0 * 10 + 3)/{x+}", "always": { "outcome": "external" }"## }
        + (0..<4).map {
            ##""links": { "path": "/a\##($0 * 20 + 9)/{x*}", "scheme": "https" }, "always": { "outcome": "none" }"##
        }
        + (0..<4).map {
            ##""requests": "path", "when": { "without": "session" }, "never": { "screens": "c\##($0 * 4).s1" }"##
        }
        + [
            ##""never": { "otherExternal": ["h.example", "*.h.example"] }"##,
            ##""never": { "otherExternal": "https://h.example" }"##,
        ]

    /// A release build of `linkd routes prove` has taken 0.3 s of CPU time for this table and these properties.
    @Test("Thirty properties of a thousand routes take few requests and little work")
    func thirty() throws {
        let table = try Self.table()
        let all = Self.properties.enumerated().map { ##"{ "id": "p\##($0)", \##($1) }"## }.joined(separator: ",")
        let file = ##"{ "schemaVersion": 1, "table": "t", "properties": [ \##(all) ] }"##
        let read = PropertyFile.read(Array(file.utf8), about: table)
        let properties = try #require(read.file, "\(read.problems)").properties
        #expect(properties.count == 30)
        var search = PropertySearch(table, properties)
        let verdicts = search.run()
        for (number, verdict) in verdicts.enumerated() {
            switch verdict {
            case .proved: #expect(number < 29)
            case .refuted: #expect(number == 29)
            case .unproved(let gap): Issue.record("\(Self.properties[number]): \(gap)")
            }
        }
        #expect(search.requestCount < 2_000, "\(search.requestCount) requests")
        #expect(search.workUnits < 1_000_000, "\(search.workUnits) units")
    }
}
