import RouteAnalysis
import Foundation
import LinkCoordinator
import TestSupport
import Testing

@Suite("Loading of tables with many routes", .serialized)
struct LoadScaleTests {
    @Test("Four times the routes take about four times as long", arguments: LoadShape.all)
    func growth(shape: LoadShape) {
        let (few, many) = (shape.file(100), shape.file(400))
        // Quadratic growth takes sixteen times as long.
        let excess = ThreadTime.excess(
            of: { _ = RouteTable.check(many, includesAdvice: true) },
            over: { _ = RouteTable.check(few, includesAdvice: true) }, factor: 8)
        #expect(excess == nil)
    }

    @Test("A table of each shape is accepted or refused as expected", arguments: LoadShape.all)
    func accepted(shape: LoadShape) {
        let (table, problems, _) = RouteTable.check(shape.file(100))
        #expect((table == nil) == shape.isRefused, "\(problems.prefix(2).map(\.message))")
    }

    @Test("A chain of 40 parents with four variants each is loaded, although there are 4^40 ways through it")
    func parents() {
        let routes = (0..<40).map { number in
            let parents = number == 0 ? "" : #", "parents": "route:r\#(number - 1)""#
            let variants = (0..<4).map { variant in
                let when = variant == 3 ? "" : #""when": { "attributes": { "a\#(number)": "\#(variant)" } }, "#
                return #"{ \#(when)"to": { "path": "/c/\#(variant % 2 == 0 ? "i" : "s")"\#(parents) } }"#
            }
            let all = variants.joined(separator: ", ")
            return #"{ "id": "r\#(number)", "match": "/t\#(number)", "variants": [ \#(all) ] }"#
        }
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": { "c": { "screens": { "i": {}, "s": {} } } },
              "routes": [ \#(routes.joined(separator: ",\n")) ] }
            """#
        let (table, problems, _) = RouteTable.check(Array(file.utf8), includesAdvice: true)
        #expect(table != nil, "\(problems.prefix(2).map(\.message))")
        let decision = table?.resolve(.link("t:t39"))
        #expect(decision?.stack.count == 40, "\(String(describing: decision))")
    }

    @Test("Many parents with many stacks, and a long chain of parents, are loaded with little memory")
    func manyParents() {
        let variants = { (number: Int, parent: (Int) -> String) in
            (0..<number).map { one in
                let when = one == number - 1 ? "" : #""when": { "attributes": { "a": "\#(one)" } }, "#
                return #"{ \#(when)"to": { "path": "/c/s\#(one % 2)", "parents": "\#(parent(one))" } }"#
            }.joined(separator: ", ")
        }
        // Each of nine levels doubles the stacks. Then 400 routes have those of the last level, and one has all theirs.
        var routes = (0..<409).map { number in
            let parent = number == 0 ? "none" : "route:r\(min(number - 1, 8))"
            return #"{ "id": "r\#(number)", "variants": [ \#(variants(2) { _ in parent }) ] }"#
        }
        let all = variants(400) { "route:r\($0 + 9)" }
        routes.append(#"{ "id": "top", "variants": [ \#(all) ] }"#)
        routes += (0..<40).map { number in
            #"{ "id": "x\#(number)", "match": "/x\#(number)", "to": { "path": "/c/s0", "parents": "route:top" } }"#
        }
        routes += (0..<64).map { number in
            let parent = number == 0 ? "none" : "route:y\(number - 1)"
            return #"{ "id": "y\#(number)", "to": { "path": "/o/s", "parents": "\#(parent)" } }"#
        }
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": {
                "c": { "screens": { "s0": {}, "s1": {} } }, "o": { "slot": "single", "screens": { "s": {} } } },
              "routes": [ \#(routes.joined(separator: ",\n")) ] }
            """#
        let (table, problems, _) = RouteTable.check(Array(file.utf8))
        #expect(table != nil, "\(problems.prefix(2).map(\.message))")
        #expect(table?.resolve(.link("t:x1")).stack.count == 12)
    }

    @Test("Stacks above the stacks of other routes are composed up to a limit, and more are a problem of the table")
    func tooManyStacks() {
        func file(_ levels: Int) -> String {
            // Every level has 256 different stacks, each one entry longer than those below.
            let routes = (0..<levels * 12).map { number in
                let parent = number < 12 ? "none" : "route:r\((number / 12 - 1) * 12 + number % 5)"
                let variants = (0..<12).map { one in
                    let when = one == 11 ? "" : #""when": { "attributes": { "a": "\#(one)" } }, "#
                    return #"{ \#(when)"to": { "path": "/c/s\#(one)", "parents": "\#(parent)" } }"#
                }
                return #"{ "id": "r\#(number)", "variants": [ \#(variants.joined(separator: ", ")) ] }"#
            }
            let screens = (0..<12).map { #""s\#($0)": {}"# }.joined(separator: ", ")
            return #"""
                { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
                  "link": { "schemes": ["t"], "host": "segment" },
                  "coordinators": { "c": { "screens": { \#(screens) } } },
                  "routes": [ \#(routes.joined(separator: ",\n")) ] }
                """#
        }
        let (few, problems, _) = RouteTable.check(Array(file(4).utf8))
        #expect(few != nil, "\(problems.prefix(2).map(\.message))")
        let many = RouteTable.check(Array(file(40).utf8))
        #expect(many.table == nil && many.problems.map(\.code) == [.tooLarge], "\(many.problems.prefix(3))")
        #expect(many.problems.first?.message.contains(" more than 8388608 entries") == true)
    }

    @Test("A parent of the last of many variants is found, in every order of the routes", arguments: [true, false])
    func lastParent(isFirst: Bool) {
        let levels = (0..<9).map { number in
            let parent = number == 0 ? "none" : "route:r\(number - 1)"
            return #"""
                { "id": "r\#(number)", "variants": [
                  { "when": { "app": ">=2" }, "to": { "path": "/c/s0", "parents": "\#(parent)" } },
                  { "to": { "path": "/c/s1", "parents": "\#(parent)" } } ] }
                """#
        }
        let equal = (0..<300).map { #"{ "when": { "attributes": { "a": "\#($0)" } }, "to": { "path": "/c/s0" } }"# }
        let parents = #"""
            { "when": { "app": ">=3" }, "to": { "root": true, "parents": "route:r8" } },
            { "to": { "path": "/c/s0", "parents": "route:deep" } }
            """#
        let path = "/c" + String(repeating: "/s0", count: 64)
        let others = [
            #"{ "id": "z", "match": "/z", "to": { "path": "/c/s0", "parents": "route:m" } }"#,
            #"{ "id": "m", "variants": [ \#(equal.joined(separator: ", ")), \#(parents) ] }"#,
            #"{ "id": "deep", "to": { "path": "\#(path)" } }"#,
        ]
        let routes = isFirst ? others + levels : levels + others.reversed()
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "coordinators": { "c": { "screens": { "s0": {}, "s1": {} } } },
              "routes": [ \#(routes.joined(separator: ",\n")) ] }
            """#
        let problems = RouteTable.check(Array(file.utf8)).problems
        #expect(problems.contains { $0.code == .stackTooDeep }, "\(problems.prefix(2).map(\.message))")
    }

    @Test(
        "A chain of more than 63 parent routes is an error, because no stack would have all of them",
        arguments: [63, 64, 2000])
    func deepParents(count: Int) {
        let parents = (0..<count).map { number in
            let parent = number == 0 ? "" : #", "parents": "route:p\#(number - 1)""#
            return #"{ "id": "p\#(number)", "to": { "path": "\#(number == 0 ? "/g/s" : "/o/s")"\#(parent) } }"#
        }
        let file = #"""
            { "schemaVersion": 1, "table": { "id": "t", "version": "1" },
              "link": { "schemes": ["t"], "host": "segment" },
              "guards": { "in": { "claim": "session", "else": { "to": { "root": true } } } },
              "coordinators": {
                "g": { "guard": "in", "screens": { "s": {} } }, "o": { "slot": "single", "screens": { "s": {} } } },
              "routes": [ { "id": "r", "match": "/r", "to": { "path": "/o/s", "parents": "route:p\#(count - 1)" } },
                \#(parents.joined(separator: ",\n")) ] }
            """#
        let (table, problems, _) = RouteTable.check(Array(file.utf8))
        #expect(problems.contains { $0.code == .stackTooDeep } == (count > 63), "\(problems.prefix(2).map(\.message))")
        // The guard of the last parent applies.
        #expect(table?.resolve("t:r").outcome == (count > 63 ? nil : .deferred))
    }
}
