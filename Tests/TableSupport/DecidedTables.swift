package import LinkCoordinator

/// Tables and events for records of many devices.
package enum ManyDevices {
    /// Returns a table whose payload pointers overlap, and whose routes have bindings, guards, redirects, and parents.
    package static func file(_ id: String, scheme: String, pointers: String) -> [UInt8] {
        Array(
            #"""
            {"schemaVersion":1,"table":{"id":"\#(id)","version":"1","applications":["\#(id)"]},
             "link":{"schemes":["\#(scheme)"],"host":"authority","hosts":["*"],"repair":true,
                     "query":{"names":"insensitive"},"payload":{"link":[\#(pointers)],"route":"/r","params":"/p"}},
             "models":{"I":{"id":"int","q":"string?"},"X":{"x":"string?","all":"list<string>(0..3)"},
                       "Y":{"f":"string?","y":"string(1..)","n":"list<int>(1..3)"}},
             "guards":{"g":{"claim":"c","else":{"to":{"path":"/login/form"},"resume":{"ttl":"1m"}}}},
             "coordinators":{"a":{"screens":{"s":{"needs":["I"]},"x":{"needs":["X"]},"new":{"since":"5"},
                                              "y":{"needs":["Y"]}}},
                             "k":{"guard":"g","screens":{"s":{"needs":["I"]},"x":{"needs":["X"]}}},
                             "login":{"screens":{"form":{}}}},
             "routes":[{"id":"s","match":"/s/{id}","bind":{"I":{"id":"path.id","q":"query.q"}},"variants":[
                          {"when":{"platform":"IOS","query":{"q":"1"}},"to":{"path":"/a/s"}},
                          {"when":{"app":">=5"},"to":{"path":"/a/s/new","parents":"route:x"}},
                          {"to":{"path":"/k/s"}}]},
                       {"id":"x","match":"/x","to":{"path":"/a/x"},"onInvalid":"drop",
                        "bind":{"X":{"x":"payload./x/0","all":"payload./x"}}},
                       {"id":"kx","match":"/kx","to":{"path":"/k/x"},"bind":{"X":{"x":"query.q","all":"payload./x"}}},
                       {"id":"p1","match":"/p1","to":{"path":"/a/y"},"bind":{"Y":{"y":"query.y","n":"query.n"}}},
                       {"id":"p2","match":"/p2","to":{"path":"/a/y","parents":"route:p1"},
                        "bind":{"Y":{"f":"fragment","y":"query.y","n":"query.n"}}},
                       {"id":"deep","match":"/deep","variants":[
                          {"when":{"platform":"ios"},"to":{"path":"/a/x"}},
                          {"when":{"platform":"android"},"to":{"path":"/a/x","parents":"route:p1"}},
                          {"to":{"path":"/a/x","parents":"route:p2"}}]},
                       {"id":"old","match":"/old/{id}","redirect":"/s/{id}"},
                       {"id":"to","match":"/any/{one}","redirect":"any"},
                       {"id":"any","to":{"path":"/k/x"},"bind":{"X":{"x":"path.one","all":"query.all"}}}]}
            """#.utf8)
    }
}

extension SampleTables {
    /// Returns a table whose only route opens the home screen.
    package static func home(_ id: String, scheme: String, hosts: String, application: String) throws -> RouteTable {
        try RouteTable(
            json:
                Array(
                    """
                    {"schemaVersion":1,"table":{"id":"\(id)","version":"1","applications":["\(application)","shared"]},
                     "link":{"schemes":["\(scheme)","https"],"host":"authority","hosts":[\(hosts)],
                             "payload":{"link":["/aps/link","/deep_link","/data/deep_link"]}},
                     "coordinators":{"home":{"initial":"feed","screens":{"feed":{}}}},
                     "routes":[{"id":"home","match":"/","to":{"path":"/home/feed"}}],
                     "fallback":{"outcome":"reject"}}
                    """.utf8))
    }
}
