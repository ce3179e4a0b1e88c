internal import LinkCoordinator

/// The table of the article `YourFirstTable`, for an app's own links.
package struct TableTemplate {
    private let id: String
    private let scheme: String
    private let host: String?

    /// Creates a table, or returns nil if a text is not an id, a scheme, or a host.
    ///
    /// - Parameters:
    ///   - id: The id of the table.
    ///   - scheme: The scheme of the app's links, in lowercase. It is not a scheme of web links.
    ///   - host: The host of its web links, or nil for none.
    package init?(id: String, scheme: String, host: String? = nil) {
        guard NameRule.identifier.matches(id), TableDraft.isScheme(scheme), !["https", "http"].contains(scheme) else {
            return nil
        }
        if let host {
            // Port 443 of a web link counts as no port, so no link has it.
            guard case .exact(_, let port)? = try? HostRule.parse(host), port != 443 else { return nil }
        }
        self.id = id
        self.scheme = scheme
        self.host = host
    }

    /// The text of the table.
    package var text: String {
        let own = "{ \"schemes\": [\"\(scheme)\"], \"host\": \"segment\" }"
        let web = host.map { "{ \"schemes\": [\"https\"], \"host\": \"authority\", \"hosts\": [\"\($0)\"] }" }
        let more = host.map { ",\n    { \"link\": \"https://\($0)/p/7\", \"route\": \"product\" }" } ?? ""
        return """
            {
              "schemaVersion": 1,
              "table": { "id": "\(id)", "version": "1" },
              "link": \(web.map { "[\n    \(own),\n    \($0)\n  ]" } ?? own),
              "models": {
                "Product": { "id": "int(1..)" },
                "Search": { "words": "string(1..80)" }
              },
              "coordinators": {
                "shop": {
                  "initial": "list",
                  "screens": {
                    "list": {},
                    "product": { "needs": ["Product"], "identity": "{Product.id}" },
                    "search": { "needs": ["Search"], "present": ["sheet"] }
                  }
                }
              },
              "routes": [
                { "id": "home", "match": "/", "to": { "path": "/shop" } },
                { "id": "product", "match": "/p/{id:int(1..)}", "to": { "path": "/shop/product", "parents": "initial" },
                  "bind": { "Product": { "id": "path.id" } } },
                { "id": "search", "match": "/search", "to": { "path": "/shop/search", "parents": "initial" },
                  "bind": { "Search": { "words": "query.q" } } }
              ],
              "fallback": { "on": ["no_route"], "outcome": "navigate", "to": { "path": "/shop" } },
              "examples": [
            \(examples)\(more)
              ]
            }

            """
    }

    /// The examples of the app's own links, one a line.
    private var examples: String {
        [
            #""p/7", "route": "product", "path": "/shop/list/product", "models": { "Product": { "id": 7 } } }"#,
            #""search?q=red%20shoes", "route": "search", "present": "sheet" }"#,
            #""search", "outcome": "reject", "reason": "param_missing" }"#,
            #""nowhere", "outcome": "navigate", "path": "/shop/list", "reason": "no_route" }"#,
        ].map { "    { \"link\": \"\(scheme)://" + $0.dropFirst() }.joined(separator: ",\n")
    }
}
