import Foundation
import LinkCoordinator
import TableSupport
import Testing

@Suite("Values that an app stores and sends") struct CodingTests {
    /// Returns the value after it was written as JSON and read again, and the JSON.
    private func roundTrip<Value: Codable>(_ value: Value) throws -> (value: Value, json: String) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(value)
        return (try JSONDecoder().decode(Value.self, from: data), String(decoding: data, as: UTF8.self))
    }

    @Test(
        "A request is written as the members of an event, and read again unchanged",
        arguments: [
            (LinkRequest.link("shop:///p/new"), #"{"link":"shop:///p/new"}"#),
            (.path("/auth/a"), #"{"path":"/auth/a"}"#),
            (.path("auth/a", mode: .reuse), #"{"mode":"reuse","path":"auth/a"}"#),
            (.route("home"), #"{"route":"home"}"#),
            (
                .route("order", params: ["order": 12, "gift": true, "note": "a b"]),
                #"{"params":{"gift":true,"note":"a b","order":12},"route":"order"}"#
            ),
            (
                .payload(["aps": ["alert": "hi", "badge": .null], "ids": [1, 2.5, "x", [], ["a": false]]]),
                #"{"payload":{"aps":{"alert":"hi","badge":null},"ids":[1,2.5,"x",[],{"a":false}]}}"#
            ),
        ])
    func requests(request: LinkRequest, json: String) throws {
        let (again, written) = try roundTrip(request)
        #expect(again == request && written == json)
    }

    @Test(
        "A request that is not exactly one form is refused",
        arguments: [
            "{}", #"{"link":"a","route":"b"}"#, #"{"link":5}"#, #"{"path":"/a","mode":"stack"}"#, #"{"payload":[]}"#,
            #"{"route":"a","params":"x"}"#,
        ])
    func malformedRequests(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(LinkRequest.self, from: Data(json.utf8)) }
    }

    @Test("Facts about a device are written as the members of a device in an event, and read again unchanged")
    func devices() throws {
        let device = DeviceFacts(
            platform: "ios", app: "6.1.0", os: "18.0", locale: "en-GB", region: "GB", capabilities: ["ar"],
            claims: [], attributes: ["tier": "gold"], coordinator: "home")
        let (again, json) = try roundTrip(device)
        #expect(again == device)
        #expect(
            json == #"{"app":"6.1.0","attributes":{"tier":"gold"},"capabilities":["ar"],"claims":[],"#
                + #""coordinator":"home","locale":"en-GB","os":"18.0","platform":"ios","region":"GB"}"#)
        #expect(try roundTrip(DeviceFacts()).json == "{}")
    }

    @Test("The entries and the resume of a decision are written as in its JSON, and read again unchanged")
    func decisions() throws {
        let table = try TableFiles.anchor()
        let id = LinkTests.uuid
        let shown = table.resolve("shop:///p/\(id)?count=3", device: DeviceFacts(app: "6.0.0"))
        #expect(!shown.stack.isEmpty && shown.stack.contains { !$0.models.fields.isEmpty })
        let (again, json) = try roundTrip(shown.stack)
        #expect(again == shown.stack)
        let wrapped = try Decision(json: #"{"table":"t@1+0","outcome":"navigate","stack":\#(json)}"#.utf8)
        #expect(wrapped.stack == shown.stack)

        let resume = Decision.Resume(
            claim: "session", request: .route("order", params: ["order": 12]), ttl: .seconds(900), once: true)
        let (resumed, text) = try roundTrip(resume)
        #expect(resumed == resume)
        #expect(text == #"{"claim":"session","once":true,"params":{"order":12},"route":"order","ttl":900}"#)
    }

    @Test("Decisions are equal if their JSON is the same")
    func equality() throws {
        let table = try TableFiles.anchor()
        let first = table.resolve("shop:///p/new")
        let read = try Decision(json: first.json)
        #expect(first == table.resolve("shop:///p/new") && first == read)
        #expect(first != table.resolve("shop:///nope"))
        #expect(Set([first, table.resolve("shop:///p/new")]).count == 1)
    }

    @Test("A reason of a newer server is kept, and each reason of this version has a constant")
    func reasons() throws {
        let decision = try Decision(json: #"{"table":"t@1+0","outcome":"reject","reason":"from_the_future"}"#.utf8)
        #expect(decision.reason == "from_the_future" && decision.reason != .host)
        let constants: [Decision.Reason] = [
            .budget, .badEncoding, .scheme, .host, .emptySegment, .dotSegment, .noRoute, .redirectLimit, .excluded,
            .externalRefused, .unknownScreen, .unsupported, .paramInvalid, .paramMissing, .presentation, .noLink,
        ]
        let codes = ReasonCode.allCases.filter { $0 != .internalError }.map { Decision.Reason($0) }
        // Only a worker has the reason `expired`.
        let expired = try Decision(json: #"{"table":"t@1+0","outcome":"none","reason":"expired"}"#.utf8)
        #expect(expired.reason == .expired && !expired.isFallback)
        let json = #"{"decision":"in-0-1-0","event":"e","user":"u","outcome":"none","reason":"no_device"}"#
        let none = try Decision(json: json.utf8)
        #expect(none.reason == .noDevice && !none.isFallback && none.table == nil)
        let known =
            #"{"decision":"in-0-1-0","device":"d","table":"t@1+0","route":"r","outcome":"navigate","mode":"#
            + #""replace","path":"/","stack":[],"facts":{"app":"6"},"notes":["n"]}"#
        #expect(try Decision(json: known.utf8).notes == ["n"])
        #expect(Set(constants) == Set(codes) && constants.count == codes.count)
    }
}

@Suite("Objects of a request") struct RequestObjectTests {
    @Test("A request that is printed or dumped shows no member of its payload or its parameters")
    func printed() {
        for request: LinkRequest in [.payload(["token": "SECRET"]), .route("order", params: ["token": "SECRET"])] {
            var dumped = ""
            dump(request, to: &dumped)
            for text in ["\(request)", String(reflecting: request), dumped] {
                #expect(text.contains("1 member") && !text.contains("SECRET") && !text.contains("token"), "\(text)")
            }
        }
        #expect("\(LinkRequest.Object([]))" == "0 members")
    }

    @Test("JSON that is not an object, or has a name twice, is refused with its position and without its content")
    func refused() {
        for (json, expected) in [
            ("", "not JSON: the text ends inside a value at byte 0"), ("[1]", "expected a JSON object"),
            (#""secret""#, "expected a JSON object"),
            (#"{"secret":1,"secret":2}"#, "two members with this name at byte"),
            (#"{"secret":1}x"#, "only one value at byte 12"), ("{\"a\":\"\u{1}\"}", "is not escaped"),
        ] {
            do throws(LinkRequestError) {
                _ = try LinkRequest.Object(json: json.utf8)
                Issue.record("\(json) was read")
            } catch {
                #expect(error.description.contains(expected), "\(json): \(error)")
                #expect(!error.description.contains("secret"))
            }
        }
        let long = #"{"a":""# + String(repeating: "x", count: LinkRequest.Object.maxBytes) + #""}"#
        #expect(throws: LinkRequestError.self) { try LinkRequest.Object(json: long.utf8) }
        let deep = String(repeating: #"{"a":"#, count: 70) + "1" + String(repeating: "}", count: 70)
        #expect(throws: LinkRequestError.self) { try LinkRequest.Object(json: deep.utf8) }
    }

    @Test(
        "A floating-point number is written without an exponent and reads back as the same number",
        arguments: [0.00001, -2.5e-7, 1e16, 1.5e20, -1.25e20, .leastNonzeroMagnitude, 0, -0.5, 100, 1.7e308])
    func numbers(value: Double) throws {
        guard case .number(let text) = LinkRequest.Value(floatLiteral: value) else {
            Issue.record("\(value) is not a number")
            return
        }
        #expect(Double(text) == value && !text.contains("e") && !text.hasSuffix(".0"))
        #expect(ModelValue(floatLiteral: value) == .number(text))
    }

    @Test("Objects are equal regardless of spelling and order, and keep the text that they were read from")
    func equality() throws {
        let read = try LinkRequest.Object(json: #"{ "b" : 1.50, "a":"\u0041\/" }"#.utf8)
        let literal: O = ["a": "A/", "b": .number("1.50")]
        #expect(read == literal && read.hashValue == literal.hashValue)
        #expect(read != ["a": "A/", "b": 1.5] && read != ["a": "A/"])
        #expect(read.json == #"{ "b" : 1.50, "a":"\u0041\/" }"# && read.names == ["b", "a"])
        #expect(read["a"] == "A/" && read["c"] == nil)
    }

    @Test("Objects with many members are compared and encoded, for which quadratic time would be minutes")
    func manyMembers() throws {
        let members = (0..<60_000).map { ("n\($0)", LinkRequest.Value.number("\($0)")) }
        let (one, other) = (LinkRequest.Object(members), LinkRequest.Object(members.reversed()))
        #expect(one == other)
        #expect(try !JSONEncoder().encode(one).isEmpty)
    }

    @Test("Objects with the same names and other values have other hashes, so that a set of them is fast")
    func hashes() {
        let hashes = (0..<20_000).map { LinkRequest.payload(["data": ["id": .number("\($0)")]]).hashValue }
        #expect(Set(hashes).count == 20_000)
        let one: O = ["a": ["b": 1, "c": [true, .null]], "d": "x"]
        let other: O = ["d": "x", "a": ["c": [true, .null], "b": 1]]
        #expect(one == other && one.hashValue == other.hashValue)
    }

    @Test("A decoded object has the limits of an object that is read from JSON")
    func decodedLimits() throws {
        func data(_ depth: Int) -> Data {
            Data((String(repeating: #"{"a":"#, count: depth) + "[1]" + String(repeating: "}", count: depth)).utf8)
        }
        let deepest = try JSONDecoder().decode(O.self, from: data(O.maxDepth - 1))
        #expect(try deepest == O(json: data(O.maxDepth - 1)))
        #expect(try JSONEncoder().encode(deepest) == data(O.maxDepth - 1))
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(O.self, from: data(O.maxDepth)) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(LinkRequest.Value.self, from: data(O.maxDepth)) }
        let long = #"{"a":""# + String(repeating: "x", count: O.maxBytes) + #""}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(O.self, from: Data(long.utf8)) }
    }

    @Test("A deep object with many values is decoded and encoded unchanged")
    func deepCoding() throws {
        let depth = O.maxDepth - 1
        let numbers = Array(repeating: "1", count: 20_000).joined(separator: ",")
        let json = String(repeating: #"{"a":"#, count: depth) + "[\(numbers)]" + String(repeating: "}", count: depth)
        #expect(try JSONEncoder().encode(JSONDecoder().decode(O.self, from: Data(json.utf8))) == Data(json.utf8))
    }

    @Test(
        "Integers of 64 bits keep their digits in coders",
        arguments: [Int64.min.description, UInt64.max.description])
    func longIntegers(digits: String) throws {
        let object: O = ["id": .number(digits)]
        #expect(try JSONDecoder().decode(O.self, from: JSONEncoder().encode(object)) == object)
        let models: Models = ["M": ["id": .number(digits)]]
        #expect(try JSONDecoder().decode(Models.self, from: JSONEncoder().encode(models)) == models)
    }

    @Test("Names that differ only in their Unicode form are different names, as in JSON")
    func unicodeNames() throws {
        let object: O = ["\u{e9}": 1, "e\u{301}": 2]
        #expect(try object == O(json: "{\"\u{e9}\":1,\"e\u{301}\":2}".utf8) && object.names.count == 2)
    }

    private typealias O = LinkRequest.Object

    @Test("The last value of a name is used, and a text that is not a number is written as a string")
    func literals() {
        let object: O = ["a": 1, "b": ["c": [true, .null]], "a": .number("1e3"), "d": .number("1 e"), "e": -2.5]
        #expect(object.json == #"{"a":1e3,"b":{"c":[true,null]},"d":"1 e","e":-2.5}"#)
    }
}
