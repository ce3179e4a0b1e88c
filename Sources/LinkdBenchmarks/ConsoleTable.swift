/// A table with many routes, and a candidate that differs from it.
enum ConsoleTable {
    /// The id of the table.
    static let id = "large"
    private static let coordinators = 40
    private static let screens = 25

    /// Returns a link that the route with a number matches.
    static func link(_ number: Int) -> String {
        "large://shop.example/section\(number % 97)/topic\(number)/b121d5e7-ea65-49f8-8b33-b3c43fa93866"
            + "?count=\(number % 99 + 1)"
    }

    /// Returns the text of a table.
    ///
    /// - Parameters:
    ///   - count: The number of routes.
    ///   - isCandidate: A Boolean value that indicates whether some routes are missing, and others open another screen
    ///     or need another version.
    static func text(routes count: Int, isCandidate: Bool = false) -> String {
        let kept = (0..<count).filter { !isCandidate || $0 % 1000 != 999 }
        let routes = kept.map { route($0, isCandidate: isCandidate) }
        let coordinators = (0..<coordinators).map { coordinator in
            let screens = (0..<screens).map { #""screen\#($0)":{"needs":["Item"]}"# }
            return
                #""area\#(coordinator)":{"initial":"start","screens":{"start":{},\#(screens.joined(separator: ","))}}"#
        }
        return """
            {"schemaVersion":1,"table":{"id":"\(id)","version":"\(isCandidate ? 2 : 1)"},
             "link":{"schemes":["\(id)"],"host":"authority","hosts":["shop.example"]},
             "models":{"Item":{"id":"uuid","count":"int(1..99)=1"}},
             "coordinators":{\(coordinators.joined(separator: ",\n"))},
             "routes":[\(routes.joined(separator: ",\n"))],"fallback":{"outcome":"reject"}}
            """
    }

    private static func route(_ number: Int, isCandidate: Bool) -> String {
        let isChanged = isCandidate && number % 500 == 250
        let screen = (number / coordinators + (isChanged && number % 2 == 0 ? 1 : 0)) % screens
        let target = #""to":{"path":"/area\#(number % coordinators)/screen\#(screen)","parents":"initial"}"#
        let version = isChanged ? "5.0.0" : "4.0.0"
        let action =
            number % 3 == 0
            ? #""variants":[{"when":{"app":">=\#(version)"},\#(target)},"#
                + #"{"to":{"external":"https://shop.example/topic\#(number)/{id}"}}]"# : target
        return #"{"id":"topic\#(number)","match":"/section\#(number % 97)/topic\#(number)/{id:uuid}","#
            + #""bind":{"Item":{"id":"path.id","count":"query.count"}},\#(action)}"#
    }
}
