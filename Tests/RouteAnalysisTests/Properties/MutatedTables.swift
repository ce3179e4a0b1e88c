import LinkCoordinator
import TestSupport

/// Tables that differ from one another in their redirects, rewrites, fallbacks, guards, variants, and screens.
enum MutatedTables {
    /// Routes that a table can have, with their ids.
    private static let routes = [
        ##"{ "id": "home", "match": "/", "to": { "root": true } }"##,
        ##"{ "id": "a", "match": "/a", "to": { "path": "/account/list" } }"##,
        ##"{ "id": "b", "match": "/b", "to": { "path": "/shop/list", "parents": "initial" } }"##,
        ##"""
        { "id": "num", "match": "/n/{n:int(1..9)}", "bind": { "M": { "n": "path.n" } }, "to": { "path": "/shop/item"
        } }
        """##,
        ##"{ "id": "text", "match": "/t/{n}", "bind": { "M": { "n": "path.n" } }, "to": { "path": "/shop/item" } }"##,
        ##"{ "id": "opt", "match": "/o", "bind": { "M": { "n": "query.q" } }, "to": { "path": "/shop/item" } }"##,
        ##"""
        { "id": "drop", "match": "/d", "onInvalid": "drop", "bind": { "Q": { "q": "query.q" } }, "to": { "path":
        "/shop/found" } }
        """##,
        ##"{ "id": "q", "match": "/q", "query": { "q": "1" }, "to": { "path": "/account/list" } }"##,
        ##"{ "id": "q-any", "match": "/q", "to": { "path": "/shop/list" } }"##,
        ##"""
        { "id": "when-q", "match": "/w", "variants": [ { "when": { "query": { "q": "1" } }, "to": { "path":
        "/account/list" } }, { "to": { "path": "/shop/list" } } ] }
        """##,
        ##"""
        { "id": "when-app", "match": "/v", "variants": [ { "when": { "app": ">=4" }, "to": { "path": "/shop/cover" }
        }, { "to": { "external": "https://h.example/v" }, "notice": "/help/update" } ] }
        """##,
        ##"""
        { "id": "when-claim", "match": "/c", "variants": [ { "when": { "claim": "session", "platform": "ios" },
        "to": { "path": "/account/list" } }, { "when": { "platform": "ios" }, "to": { "path": "/shop/cover" } }, {
        "to": { "external": "https://other.example/{query.q}" } } ] }
        """##,
        ##"{ "id": "by-id", "match": "/r", "redirect": "a" }"##,
        ##"{ "id": "by-path", "match": "/x/{n}", "redirect": "/n/{n}" }"##,
        ##"{ "id": "by-tail", "match": "/y/{rest+}", "redirect": "/{rest}" }"##,
        ##"{ "id": "by-affix", "match": "/z/x-{n}", "redirect": "/t/{n}" }"##,
        ##"{ "id": "any", "match": "/open/{p:coordinatorPath}", "to": { "path": "{p}" } }"##,
        ##"""
        { "id": "any-skip", "match": "/skip/{p:coordinatorPath}", "unknownScreen": "skip", "unsupported":
        "truncate", "to": { "path": "{p}", "parents": "initial" } }
        """##,
        ##"{ "id": "out", "match": "/out/{rest*}", "exclude": { "outcome": "external" } }"##,
        ##"{ "id": "none", "match": "/none", "exclude": { "outcome": "none" } }"##,
        ##"{ "id": "refused", "match": "/refused", "exclude": { "outcome": "reject" } }"##,
        ##"{ "id": "new", "match": "/new", "to": { "path": "/shop/new" } }"##,
        ##"""
        { "id": "new-or-old", "match": "/m", "unsupported": { "to": { "path": "/account/list" } }, "to": { "path":
        "/shop/new" } }
        """##,
        ##"{ "id": "under", "match": "/u", "to": { "path": "/help/update", "parents": "route:a" } }"##,
        ##"{ "id": "hidden", "to": { "path": "/shop/cover" } }"##,
        ##"{ "id": "hidden-account", "to": { "path": "/account/list" } }"##,
        ##"{ "id": "rest", "match": "/{rest+}", "to": { "path": "/shop/list" } }"##,
        ##"{ "id": "host", "match": { "path": "/h", "host": "x.h.example" }, "to": { "path": "/shop/cover" } }"##,
        ##"""
        { "id": "lang", "match": "/lang", "bind": { "L": { "l": "rewrite.lang" } }, "to": { "path": "/account/words"
        } }
        """##,
    ]

    private static let fallbacks = [
        ##"{ "outcome": "reject" }"##,
        ##"{ "outcome": "none" }"##,
        ##"""
        [ { "on": ["no_route"], "outcome": "navigate", "to": { "path": "/shop/list" } }, { "outcome": "reject" } ]
        """##,
        ##"""
        [ { "on": ["param_invalid", "param_missing"], "outcome": "external", "to": { "external":
        "https://other.example/" } } ]
        """##,
        ##"""
        [ { "on": ["unsupported"], "outcome": "navigate", "to": { "path": "/help/update" } }, { "on": ["no_route"],
        "outcome": "none" } ]
        """##,
        ##"[ { "on": ["unknown_screen"], "outcome": "navigate", "to": { "path": "/shop/new" } } ]"##,
    ]

    /// Returns the file of a table.
    static func file(_ random: inout SeededGenerator) -> String {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        let chosen = routes.filter { _ in chance(45) }
        let rewrites = chance(40) ? ##", "rewrites": [ { "stripPrefix": "/{lang:enum(en|de)}", "as": "lang" } ]"## : ""
        let guarding = chance(70) ? ##""guard": "signedIn", "## : ""
        let view = chance(30) ? ##", "view": "words""## : ""
        let cover = chance(60) ? ##""present": ["cover"], "nav": true"## : ##""present": ["sheet"]"##
        let since = chance(60) ? ##""since": "4""## : ##""requires": ["ar"]"##
        let externals = chance(50) ? ##"["h.example", "*.h.example", "other.example"]"## : ##"["*"]"##
        return ##"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["s", "https"], "host": "authority", "hosts": ["h.example", "*.h.example", ""],
                "payload": { "link": ["/link"], "route": "/route", "params": "/params" }\##(rewrites) },
              "models": { "M": { "n": "int(1..9)" }, "Q": { "q": "enum(1|2)?" }, "L": { "l": "string" } },
              "capabilities": { "ar": { "platforms": ["ios"], "minApp": "4" } },
              "guards": { "signedIn": { "claim": "session", "else": { "to": { "path": "/help/login" } } } },
              "coordinators": {
                "shop": { "initial": "list", "screens": { "list": {}, "item": { "needs": ["M"] },
                  "found": { "needs": ["Q"]\##(view) }, "cover": { \##(cover) }, "new": { \##(since) } } },
                "account": { \##(guarding)"initial": "list", "screens": { "list": {}, "words": { "needs": ["L"] } } },
                "help": { "screens": { "update": {}, "login": {} } } },
              "externals": { "hosts": \##(externals) },
              "routes": [ \##(chosen.joined(separator: ",\n")) ],
              "fallback": \##(fallbacks.randomElement(using: &random) ?? "{}") }
            """##
    }

    /// Returns a table that the checks of an app accept.
    static func next(_ random: inout SeededGenerator) -> RouteTable {
        while true {
            if let table = try? RouteTable(json: Array(file(&random).utf8)) { return table }
        }
    }
}
