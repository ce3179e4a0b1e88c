import LinkCoordinator
import RouteAnalysis
import StrictJSON
import TestSupport
import TableSupport
import Testing

/// Tests of `decimal` and `datetime` fields from the table to the decision and back.
@Suite("Fields of the types decimal and datetime") struct ExactFieldTests {
    static let file = #"""
        { "schemaVersion": 2, "table": { "id": "t", "version": "1" },
          "link": { "schemes": ["t"], "host": "authority", "hosts": ["*"], "repair": true,
                    "payload": { "link": ["/link"], "route": "/route", "params": "/params" } },
          "models": {
            "Price": { "amount": "decimal(0.01..999.99)", "tax": "decimal=0.50", "off": "decimal(..0)?",
                       "parts": "list<decimal>" },
            "Event": { "at": "datetime", "end": "datetime?", "since": "datetime=2025-01-01T02:00:00+02:00",
                       "times": "list<datetime>(0..2)" } },
          "coordinators": { "c": { "screens": {
            "price": { "needs": ["Price"], "identity": "{Price.amount}/{Price.tax}" },
            "event": { "needs": ["Event"], "identity": "{Event.at}-{Event.since}" } } } },
          "routes": [
            { "id": "price", "match": "/price", "to": { "path": "/c/price" },
              "bind": { "Price": { "amount": "query.amount", "tax": "query.tax", "off": "query.off",
                                   "parts": "query.part" } } },
            { "id": "event", "match": "/event", "to": { "path": "/c/event" },
              "bind": { "Event": { "at": "query.at", "end": "query.end", "since": "query.since",
                                   "times": "query.time" } } },
            { "id": "path", "match": "/path/{amount}/{at}", "to": { "path": "/c/price/event" },
              "bind": { "Price": { "amount": "path.amount" }, "Event": { "at": "path.at" } } },
            { "id": "fragment", "match": "/fragment", "to": { "path": "/c/event" },
              "bind": { "Event": { "at": "fragment" } } },
            { "id": "constant", "match": "/constant", "to": { "path": "/c/price/event" },
              "bind": { "Price": { "amount": { "const": "10.00" } },
                        "Event": { "at": { "const": "2025-01-31T23:00:00-01:00" } } } },
            { "id": "payload", "match": "/payload", "to": { "path": "/c/price/event" },
              "bind": { "Price": { "amount": "payload./price", "parts": "payload./parts" },
                        "Event": { "at": "payload./at", "times": "payload./times" } } },
            { "id": "twice", "match": "/twice", "to": { "path": "/c/event" }, "onInvalid": "drop",
              "bind": { "Event": { "at": "query.at", "end": "query.at", "times": "query.at" } } } ],
          "examples": [
            { "link": "t:///price?amount=2.50", "route": "price", "identity": "2.5/0.5",
              "models": { "Price": { "amount": 2.5, "tax": 0.5, "off": null, "parts": [] } } },
            { "link": "t:///event?at=2025-01-31T14:00:00%2B02:00",
              "models": { "Event": { "at": "2025-01-31T12:00:00Z", "since": "2025-01-01T00:00:00Z" } } } ] }
        """#

    static let long = "123.45678901234567890123456789012345678"

    /// A link with the expected data of its last entry, or the detail of its rejection.
    static let links: [(String, String)] = [
        ("price?amount=2.50", #"{"amount":2.5,"tax":0.5,"off":null,"parts":[]}"#),
        ("price?amount=999.990&tax=-0&off=-0.0", #"{"amount":999.99,"tax":0,"off":0,"parts":[]}"#),
        ("price?amount=\(long)&tax=-\(long)", #"{"amount":\#(long),"tax":-\#(long),"off":null,"parts":[]}"#),
        (
            "price?amount=%32%2E0&part=1.0&part=\(long)&part=-3",
            #"{"amount":2,"tax":0.5,"off":null,"parts":[1,\#(long),-3]}"#
        ),
        ("price?amount=%202.0", #"{"amount":2,"tax":0.5,"off":null,"parts":[]}"#),
        ("price", "Price.amount"), ("price?amount=", "Price.amount"), ("price?amount=0.009", "Price.amount"),
        ("price?amount=1000", "Price.amount"), ("price?amount=1e2", "Price.amount"),
        ("price?amount=02", "Price.amount"), ("price?amount=2&tax=1,5", "Price.tax"),
        ("price?amount=2&off=0.0000000000000000000000000000000000001", "Price.off"),
        ("price?amount=2&part=1&part=x", "Price.parts"),
        (
            "event?at=2025-01-31T14:00:00Z",
            #"{"at":"2025-01-31T14:00:00Z","end":null,"since":"2025-01-01T00:00:00Z","times":[]}"#
        ),
        (
            "event?at=2025-01-31t14:00:00.120-05:00&since=0001-01-01T00:00:00Z&end=2025-02-28T23:30:00-00:30",
            #"{"at":"2025-01-31T19:00:00.120Z","end":"2025-03-01T00:00:00Z","since":"0001-01-01T00:00:00Z","times":[]}"#
        ),
        (
            "event?at=2025-01-31T14:00:00+02:00&time=2025-01-31T14:00:00z&time=2025-01-31T14:00:00%2B01:00",
            #"{"at":"2025-01-31T12:00:00Z","end":null,"since":"2025-01-01T00:00:00Z","#
                + #""times":["2025-01-31T14:00:00Z","2025-01-31T13:00:00Z"]}"#
        ),
        // The link comes from a text whose hyphens were replaced by dashes.
        (
            "event?at=2025%E2%80%9301%E2%80%9331T14:00:00%E2%88%9202:00",
            #"{"at":"2025-01-31T16:00:00Z","end":null,"since":"2025-01-01T00:00:00Z","times":[]}"#
        ),
        ("event?at=2025-01-31", "Event.at"), ("event?at=2025-01-31T14:00:00", "Event.at"), ("event", "Event.at"),
        ("event?at=2016-12-31T23:59:60Z", "Event.at"),
        ("event?at=2025-01-31T14:00:00Z&end=x", "Event.end"),
        ("event?at=2025-01-31T14:00:00Z&time=2025-01-31T14:00:00", "Event.times"),
        (
            "event?at=2025-01-31T14:00:00Z" + String(repeating: "&time=2025-01-31T14:00:00Z", count: 3),
            "Event.times"
        ),
        (
            "path/2.50/2025-01-31T14:00:00+02:00",
            #"{"at":"2025-01-31T12:00:00Z","end":null,"since":"2025-01-01T00:00:00Z","times":[]}"#
        ),
        ("path/1e1/2025-01-31T14:00:00Z", "Price.amount"), ("path/2.50/noon", "Event.at"),
        (
            "fragment#2025-01-31T14:00:00+02:00",
            #"{"at":"2025-01-31T12:00:00Z","end":null,"since":"2025-01-01T00:00:00Z","times":[]}"#
        ),
        ("fragment#2025-01-31", "Event.at"), ("fragment", "Event.at"),
        (
            "constant", #"{"at":"2025-02-01T00:00:00Z","end":null,"since":"2025-01-01T00:00:00Z","times":[]}"#
        ),
        (
            "twice?at=2025-01-31T14:00:00-02:00",
            #"{"at":"2025-01-31T16:00:00Z","end":"2025-01-31T16:00:00Z","since":"2025-01-01T00:00:00Z","#
                + #""times":["2025-01-31T16:00:00Z"]}"#
        ),
    ]

    @Test("A link is bound in canonical form, or rejected with the name of the field", arguments: links)
    func bound(link: String, expected: String) throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        let decision = table.resolve("t:///" + link)
        let data = decision.value["stack"]?.array?.last?["data"]?.object?.last?.value.text
        #expect((data ?? decision.detail) == expected)
        guard data == nil else { return }
        let isMissing = !link.contains("=") && !link.contains("#") && !link.hasPrefix("path")
        #expect(decision.reason == (isMissing ? "param_missing" : "param_invalid"))
    }

    @Test("The decision has the digits of a decimal and the identity the canonical texts")
    func bytes() throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        let price = table.resolve("t:///price?amount=\(Self.long)")
        #expect(price.json.firstRange(of: Array("\"amount\":\(Self.long),".utf8)) != nil)
        #expect(price.value["stack"]?.array?.last?["identity"]?.string == Self.long + "/0.5")
        let event = table.resolve("t:///event?at=2025-01-31T14:00:00%2B02:00")
        #expect(event.value["stack"]?.array?.last?["identity"]?.string == "2025-01-31T12:00:00Z-2025-01-01T00:00:00Z")
        #expect(event.stack.last?.models["Event"]?["at"] == .text("2025-01-31T12:00:00Z"))
        #expect(price.stack.last?.models["Price"]?["amount"] == .number(Self.long))
    }

    @Test("Where a plus is a space, the offset of a date and time needs an escape")
    func plus() throws {
        let file = Self.file.replacing(#""repair": true"#, with: #""query": { "plus": "space" }"#)
        let table = try RouteTable(json: Array(file.utf8))
        #expect(table.resolve("t:///event?at=2025-01-31T14:00:00+02:00").detail == "Event.at")
        #expect(table.resolve("t:///event?at=2025-01-31T14:00:00%2B02:00").reason == nil)
        func fault(_ table: RouteTable, _ time: String) -> String? {
            table.explain(.link("t:///event?at=" + time)).parts.first { $0.kind == .query }?.fault
        }
        let advice = "not `datetime`: write `%2B` for `+`, which is a space"
        #expect(fault(table, "2025-01-31T14:00:00+02:00") == advice)
        #expect(fault(table, "2025-01-31T14:00:00") == "not `datetime`")
        #expect(fault(try RouteTable(json: Array(Self.file.utf8)), "2025-01-31+02:00") == "not `datetime`")
    }

    @Test("Each repair is tried for these types, and the decision has a note")
    func repairs() throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        let dash = table.resolve("t:///event?at=2025%E2%80%9301%E2%80%9331T14:00:00%E2%88%9202:00")
        #expect(dash.notes == ["repaired:query.at:dash"])
        #expect(table.resolve("t:///price?amount=%202.0").notes == ["repaired:query.amount:space"])
        // As for the other numbers, a dash is not read as a sign.
        #expect(table.resolve("t:///price?amount=2&tax=%E2%88%921").detail == "Price.tax")
    }

    @Test(
        "A payload gives a number or a string for a decimal, and a string for a date and time",
        arguments: [
            (#""price":2.50,"at":"2025-01-31T14:00:00+02:00""#, "2.5 []", "2025-01-31T12:00:00Z []"),
            (#""price":"2.50","at":"2025-01-31T14:00:00\u005a""#, "2.5 []", "2025-01-31T14:00:00Z []"),
            (
                #""price":\#(long),"parts":[\#(long),"-0.0",null,-0],"at":"2025-01-31T14:00:00Z""#,
                "\(long) [\(long),0,0]", "2025-01-31T14:00:00Z []"
            ),
            (
                #""price":1,"at":"2025-01-31T14:00:00Z","times":["2025-01-31T14:00:00+14:00"]"#, "1 []",
                #"2025-01-31T14:00:00Z ["2025-01-31T00:00:00Z"]"#
            ),
            (#""price":2.5e0,"at":"2025-01-31T14:00:00Z""#, "Price.amount", ""),
            (#""price":true,"at":"2025-01-31T14:00:00Z""#, "Price.amount", ""),
            (#""price":[2],"at":"2025-01-31T14:00:00Z""#, "Price.amount", ""),
            (#""price":{},"at":"2025-01-31T14:00:00Z""#, "Price.amount", ""),
            (#""price":2,"at":1738333800"#, "Event.at", ""), (#""price":2,"at":{}"#, "Event.at", ""),
            (#""price":2,"at":"2025-01-31T14:00:00Z","times":"x""#, "Event.times", ""),
        ])
    func payload(members: String, price: String, event: String) throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        let decision = table.resolve(.payload(.json(#"{"link":"t:///payload",\#(members)}"#)))
        guard let own = decision.value["stack"]?.array?.first?["data"]?["Price"],
            let other = decision.value["stack"]?.array?.last?["data"]?["Event"]
        else {
            #expect(decision.reason == "param_invalid" && decision.detail == price)
            return
        }
        #expect("\(own["amount"]?.text ?? "") \(own["parts"]?.text ?? "")" == price)
        #expect("\(other["at"]?.string ?? "") \(other["times"]?.text ?? "")" == event)
    }

    @Test("The parameters of a route may be numbers and strings")
    func parameters() throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        let price = table.resolve(.route("price", params: .json(#"{"amount":2.50,"part":["1.0",2.00]}"#)))
        #expect(
            price.value["stack"]?.array?.last?["data"]?["Price"]?.text
                == #"{"amount":2.5,"tax":0.5,"off":null,"parts":[1,2]}"#)
        let event = table.resolve(.route("event", params: .json(#"{"at":"2025-01-31T14:00:00+02:00"}"#)))
        #expect(event.value["stack"]?.array?.last?["data"]?["Event"]?["at"]?.string == "2025-01-31T12:00:00Z")
        #expect(table.resolve(.route("event", params: .json(#"{"at":20250131}"#))).detail == "Event.at")
    }

    @Test(
        "A value is written into a link in canonical form and read back",
        arguments: [
            ("price", ["Price": ["amount": 2.5]], "t:///price?amount=2.5"),
            ("price", ["Price": ["amount": "2.50", "tax": "0.5"]], "t:///price?amount=2.5"),
            (
                "price", ["Price": ["amount": .number(long), "off": "-0.0", "parts": ["1.0", 2, .number(long)]]],
                "t:///price?amount=\(long)&off=0&part=1&part=2&part=\(long)"
            ),
            ("event", ["Event": ["at": "2025-01-31T14:00:00Z"]], "t:///event?at=2025-01-31T14%3A00%3A00Z"),
            (
                "event",
                [
                    "Event": [
                        "at": "2025-01-31t14:00:00.50+02:00", "since": "2025-01-01T00:00:00Z",
                        "times": ["2025-01-31T00:00:00-00:00"],
                    ]
                ],
                "t:///event?at=2025-01-31T12%3A00%3A00.50Z&time=2025-01-31T00%3A00%3A00Z"
            ),
            ("fragment", ["Event": ["at": "2025-01-31T14:00:00+02:00"]], "t:///fragment#2025-01-31T12%3A00%3A00Z"),
            (
                "path", ["Price": ["amount": 7], "Event": ["at": "2025-01-31T14:00:00+02:00"]],
                "t:///path/7/2025-01-31T12%3A00%3A00Z"
            ),
            (
                "twice", ["Event": ["at": "2025-01-31T14:00:00z", "end": "2025-01-31T15:00:00+01:00"]],
                "t:///twice?at=2025-01-31T14%3A00%3A00Z"
            ),
        ] as [(String, Models, String)])
    func written(route: String, models: Models, link: String) throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        #expect(try table.link(route: route, models: models) == link)
        let decision = table.resolve(link)
        #expect(decision.route == route && decision.reason == nil)
        var bound = Models()
        for entry in decision.stack { bound.fields.merge(entry.models.fields) { $1 } }
        #expect(try table.link(route: route, models: bound) == link)
    }

    @Test(
        "A value that is not of the type is refused with the name of the field",
        arguments: [
            ("amount", 1000), ("amount", "1e2"), ("amount", .number("1e2")), ("amount", ""), ("amount", true),
            ("amount", .number("1." + String(repeating: "1", count: 38))), ("amount", ["2"]), ("off", 0.1),
            ("parts", 2), ("parts", ["x"]), ("at", "2025-01-31"), ("at", "2025-01-31T14:00:00"), ("at", 1_738_333_800),
            ("at", "2016-12-31T23:59:60Z"), ("times", ["2025-01-31"]), ("times", "2025-01-31T14:00:00Z"),
        ] as [(String, ModelValue)])
    func refusedValue(field: String, value: ModelValue) throws {
        let table = try RouteTable(json: Array(Self.file.utf8))
        let isPrice = ["amount", "off", "parts"].contains(field)
        var models: Models = isPrice ? ["Price": ["amount": 1]] : ["Event": ["at": "2025-01-31T14:00:00Z"]]
        models.fields[isPrice ? "Price" : "Event"]?[field] = value
        let error = #expect(throws: LinkError.self) {
            try table.link(route: isPrice ? "price" : "event", models: models)
        }
        #expect(error?.code == .value && error?.position == (isPrice ? "Price." : "Event.") + field)
    }

    /// A type with its canonical form and its default, or with a part of the error.
    @Test(
        "The type is written with canonical bounds and defaults",
        arguments: [
            ("decimal", "decimal", nil), ("decimal(0.10..2.0)", "decimal(0.1..2)", nil),
            ("decimal(-1..)", "decimal(-1..)", nil), ("decimal(..-0)", "decimal(..0)", nil),
            ("decimal(1..1.0)", "decimal(1..1)", nil), ("decimal=1.50", "decimal", "1.5"),
            ("decimal(0..1)=0.50", "decimal(0..1)", "0.5"),
            ("list<decimal(0.5..)>(1..3)", "list<decimal(0.5..)>(1..3)", nil),
            ("decimal(..\(DecimalTests.largest))?", "decimal(..\(DecimalTests.largest))", nil),
            ("datetime", "datetime", nil), ("datetime?", "datetime", nil), ("list<datetime>", "list<datetime>", nil),
            ("datetime=2025-01-31T14:00:00+02:00", "datetime", "2025-01-31T12:00:00Z"),
        ] as [(String, String, String?)])
    func types(text: String, canonical: String, absent: String?) throws {
        let file = Self.file.replacing(#""Event": {"#, with: #""Event": { "own": "\#(text)","#)
        let source = try #require(TableSource.inspect(Array(file.utf8)).source, "\(text)")
        let field = try #require(source.models.last?.field(named: "own"))
        #expect(field.type.text == canonical)
        if let absent { #expect(field.absence == .value(absent)) }
    }

    @Test(
        "A wrong type is refused with advice",
        arguments: [
            ("decimal()", "expected bounds such as"), ("decimal(5)", "expected bounds such as"),
            ("decimal(..)", "expected bounds such as"), ("decimal(1.2)", "expected bounds such as"),
            ("decimal(1..2", "expected bounds such as"), ("decimal(1...2)", "the bound `.2` is not a decimal number"),
            ("decimal(1e3..)", "the bound `1e3` is not a decimal number"),
            ("decimal(1 ..2)", "the bound `1 ` is not a decimal number"),
            ("decimal(..1\(DecimalTests.largest))", "with at most 38 digits"),
            ("decimal(2.5..2.49)", "write `(2.49..2.5)`"), ("decimal(0..1)=2", "the default `2` is not a value"),
            ("decimal(0..1)=x", "the default `x` is not a value"),
            ("datetime=2025-01-31", "the default `2025-01-31` is not a value"),
            ("datetime(1..2)", "expected `?`, `=default`, or the end"),
            ("money", "write `decimal`"), ("Decimal", "did you mean `decimal`?"), ("numeric", "write `decimal`"),
            ("decimel", "did you mean `decimal`?"), ("number", "write `int` for a whole number, or `decimal`"),
            ("timestamp", "write `datetime`"), ("DateTime", "did you mean `datetime`?"),
            ("datetimes", "did you mean `datetime`?"), ("time", "write `datetime` for a date and time"),
        ])
    func refused(text: String, expected: String) throws {
        let file = Self.file.replacing(#""Event": {"#, with: #""Event": { "own": "\#(text)","#)
        let problems = TableSource.inspect(Array(file.utf8)).problems
        let problem = try #require(problems.first { $0.code == .badType }, "\(text): \(problems)")
        #expect((problem.message + " " + (problem.suggestion ?? "")).contains(expected))
    }
}
