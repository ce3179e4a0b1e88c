/// Tables with the features that the shipped tables do not use.
package enum FuzzTables {
    /// A table with guards that use `resume`, conditions on every fact, payload bindings, rest captures, redirects, and
    /// exclusions.
    package static let vault = #"""
        { "schemaVersion": 1, "table": { "id": "vault", "version": "1", "applications": ["com.example.vault"] },
          "link": { "schemes": ["vault", "https"], "host": "authority", "hosts": ["vault.example", "*.vault.example"],
            "rewrites": [{ "stripPrefix": "/{lang:enum(en|ru)}", "as": "lang" }],
            "query": { "duplicates": "reject", "plus": "space" },
            "payload": { "link": ["/aps/link", "/data/link", "/x/0/link"], "route": "/data/route",
              "params": "/data/params" } },
          "models": {
            "Key": { "id": "string(1..64)", "n": "int?", "tags": "list<string>(0..128)", "when": "date?",
              "who": "string?", "lang": "string?" } },
          "capabilities": { "ar": { "listed": true }, "new": { "minApp": "2.0.0", "platforms": ["ios"] } },
          "coordinators": {
            "main": { "initial": "home", "screens": {
              "home": {}, "old": {}, "key": { "needs": ["Key"], "identity": "{Key.id}" },
              "beta": { "since": "3.0.0-beta.2", "requires": ["new"] } } },
            "safe": { "parent": "main", "guard": "open", "initial": "door",
              "screens": { "door": {}, "box": { "needs": ["Key"] } } },
            "login": { "screens": { "form": { "present": ["sheet"] } } } },
          "guards": { "open": { "claim": "session",
            "else": { "to": { "path": "/login/form" }, "resume": { "ttl": "15m" } } } },
          "externals": { "hosts": ["vault.example"] },
          "routes": [
            { "id": "key", "match": "/key/{id}",
              "bind": { "Key": { "id": "path.id", "n": "query.n", "tags": "query.tag", "who": "payload./who",
                "lang": "rewrite.lang" } },
              "variants": [
                { "when": { "attributes": { "tier": ["gold", "été"] }, "app": ">=2.0" },
                  "to": { "path": "/safe/box", "parents": "initial" } },
                { "when": { "attributes": { "tier": "silver" } }, "to": { "path": "/main/key" } },
                { "when": { "capability": ["ar", "new"], "locale": "en", "region": ["GB", "us"], "platform": "ios" },
                  "to": { "path": "/main/key", "mode": "reuse" } },
                { "to": { "path": "/main/old" } }] },
            { "id": "box", "match": "/box/{id}", "bind": { "Key": { "id": "path.id", "n": "query.n" } },
              "to": { "path": "/safe/box", "parents": "initial" } },
            { "id": "push", "match": "/push",
              "bind": { "Key": { "id": "payload./data/id", "tags": "payload./data/tags" } },
              "to": { "path": "/safe/box" } },
            { "id": "tree", "match": "/t/{rest*}", "bind": { "Key": { "id": { "const": "k" }, "tags": "path.rest" } },
              "to": { "path": "/safe/box" } },
            { "id": "beta", "match": "/beta", "to": { "path": "/main/beta" }, "unsupported": "truncate" },
            { "id": "files", "match": "/f/{rest+}", "to": { "external": "https://vault.example/f/{rest}" } },
            { "id": "moved", "match": "/m/{id}", "redirect": "/key/{id}" },
            { "id": "out", "match": "/out/{rest+}", "exclude": { "outcome": "external" } },
            { "id": "root", "match": "/", "to": { "root": true } }
          ],
          "fallback": [{ "on": ["no_route"], "outcome": "navigate", "to": { "root": true } }, { "outcome": "reject" }] }
        """#

    /// A table with long links, unusual settings of the link syntax, repairs, and coordinator paths.
    ///
    /// Its applications and links differ from those of `vault`.
    package static let attic = #"""
        { "schemaVersion": 2, "table": { "id": "attic", "version": "1", "applications": ["com.example.attic"] },
          "link": { "schemes": ["attic", "https"], "host": "authority",
            "hosts": ["attic.example", "a.attic.example:8080", ""],
            "path": { "case": "insensitive", "emptySegments": "reset" }, "repair": true,
            "query": { "pairSeparators": "&;", "names": "insensitive", "duplicates": "last", "plus": "space",
              "nulls": "erase" },
            "payload": { "link": ["/aps/link", "/deep_link"], "route": "/route", "params": "/params" },
            "limits": { "maxBytes": 65536, "maxSegments": 256, "maxQueryItems": 512 } },
          "models": {
            "Item": { "id": "uuid", "count": "int(1..99)=1", "day": "date?", "ok": "bool?", "w": "double?",
              "tags": "list<uuid>(0..128)", "page": "url(host in attic.example)?" },
            "Lot": { "price": "decimal(0.01..)", "tax": "decimal(..99.9)?",
              "ends": "datetime=2026-01-31T14:00:00+02:00", "bids": "list<decimal>(0..3)",
              "times": "list<datetime>(0..3)" },
            "Note": { "text": "string(1..4096)" } },
          "coordinators": {
            "hall": { "initial": "door", "screens": { "door": {}, "item": { "needs": ["Item"] },
              "lot": { "needs": ["Lot"], "identity": "{Lot.price}@{Lot.ends}" },
              "note": { "needs": ["Note"], "present": ["sheet", "push"], "nav": true } } },
            "attic": { "parent": "hall", "slot": "single",
              "screens": { "a": {}, "b": {}, "c": { "needs": ["Note"] } } } },
          "routes": [
            { "id": "item", "match": "/item",
              "bind": { "Item": { "id": "query.id", "count": "query.count", "day": "query.day", "ok": "query.ok",
                "w": "query.w", "tags": "query.tag", "page": "query.page" } },
              "onInvalid": "drop", "to": { "path": "/hall/item", "parents": "initial" } },
            { "id": "note", "match": "/note/{text}", "bind": { "Note": { "text": "path.text" } },
              "to": { "path": "/hall/note", "dismissModals": true } },
            { "id": "said", "match": "/said", "bind": { "Note": { "text": "fragment" } },
              "to": { "path": "/attic/c", "parents": "route:note" } },
            { "id": "lone", "match": "/lone", "bind": { "Note": { "text": "query.text" },
                "Item": { "id": "query.id", "day": "query.day", "tags": "query.tag" } },
              "to": { "path": "/hall/item", "parents": "route:said" } },
            { "id": "deep", "match": "/deep", "variants": [
              { "when": { "platform": "ios" }, "to": { "path": "/attic/a", "parents": "route:lone" } },
              { "when": { "platform": "android" }, "to": { "path": "/attic/b", "parents": "route:item" } },
              { "when": { "platform": "web" }, "to": { "path": "/attic/b" } },
              { "to": { "path": "/attic/a", "parents": "route:said" } }] },
            { "id": "path", "match": "/{p:coordinatorPath}", "bind": { "Note": { "text": "query.text" } },
              "to": { "path": "{p}" }, "unknownScreen": "truncate" },
            { "id": "lot", "match": "/lot/{price}", "bind": { "Lot": { "price": "path.price", "tax": "query.tax",
                "ends": "query.ends", "bids": "query.bid", "times": "query.time" } },
              "to": { "path": "/hall/lot", "parents": "route:bidding" } },
            { "id": "bidding", "match": "/bidding", "bind": { "Lot": { "price": "query.bid", "ends": "query.time",
                "times": "query.ends" } }, "onInvalid": "drop", "to": { "path": "/hall/lot" } },
            { "id": "web", "match": "/web/{rest+}", "to": { "external": "https://attic.example/{rest}?q={query.q}" } }
          ],
          "examples": [
            { "link": "attic:///lot/2.50?tax=-0.0&ends=2026-02-28T23:30:00.50-01:00&bid=1.10&bid=12345678901234567.5",
              "route": "lot" },
            { "link": "attic:///bidding?bid=7.0&time=2026-01-01T00:00:00%2B14:00&ends=2026-01-01t00:00:00z",
              "route": "bidding" } ],
          "fallback": { "outcome": "reject" } }
        """#
}
