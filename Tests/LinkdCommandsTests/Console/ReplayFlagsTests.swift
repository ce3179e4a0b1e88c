internal import StrictJSON
internal import Testing

@testable internal import HTTPServer
@testable internal import LinkdCommands

/// The dead letters of a request to `/api/replay`.
@Suite struct ReplayFlagsTests {
    private static func flags(_ body: String) throws -> ReplayFlags {
        let request = HTTPRequest(
            method: .post, path: "/api/replay", body: Array(body.utf8), peer: HTTPPeer(address: "127.0.0.1", port: 5))
        return try #require(try ReplayFlags.choices(RequestBody(request, members: ReplayFlags.members)).first)
    }

    private static func choices(_ body: String) throws -> [ReplayFlags] {
        let request = HTTPRequest(
            method: .post, path: "/api/replay", body: Array(body.utf8), peer: HTTPPeer(address: "127.0.0.1", port: 5))
        return try ReplayFlags.choices(RequestBody(request, members: ReplayFlags.members))
    }

    @Test("Several reasons become one choice each")
    func reasons() throws {
        let choices = try Self.choices(#"{"topic":"links","reasons":["bad_json","application_unknown"]}"#)
        #expect(
            choices.map(\.words) == [
                ["--topic", "links", "--reason", "bad_json"], ["--topic", "links", "--reason", "application_unknown"],
            ])
        #expect(choices.map(\.reason) == ["bad_json", "application_unknown"])
        let many = (0..<21).map { #""r\#(String(repeating: "x", count: $0))""# }.joined(separator: ",")
        for wrong in ["[]", #"["a","a"]"#, #"["--yes"]"#, "[1]", #"["bad_json",1]"#, "[\(many)]", "{}"] {
            #expect(throws: ConsoleProblem.self, "\(wrong)") { try Self.choices(#"{"reasons":\#(wrong)}"#) }
        }
        #expect(throws: ConsoleProblem.self) { try Self.choices(#"{"reason":"a","reasons":["b"]}"#) }
    }

    @Test("A choice becomes flags of the command")
    func words() throws {
        let body = #"{"topic":"links","reason":"bad_json","offsets":[{"partition":3,"first":12,"last":14}]}"#
        #expect(
            try Self.flags(body).words == ["--topic", "links", "--reason", "bad_json", "--offsets", "3:12-14"])
        #expect(try Self.flags("{}").words == [])
    }

    @Test(
        "A value that is not as expected never chooses more dead letters",
        arguments: [
            #"{"offsets":{"partition":0,"first":0,"last":0}}"#, #"{"offsets":"0:0-0"}"#, #"{"offsets":[]}"#,
            #"{"offsets":[{"partition":0,"first":0,"last":0,"x":1}]}"#,
            #"{"offsets":[{"partition":0,"first":2,"last":1}]}"#,
            #"{"offsets":[{"partition":-1,"first":0,"last":1}]}"#, #"{"offsets":[1]}"#, #"{"topic":"--yes"}"#,
            #"{"topic":"a b"}"#, #"{"topic":""}"#, #"{"reason":"-x"}"#, #"{"reason":"bad_json\n--yes"}"#,
            #"{"since":"-1"}"#,
            #"{"until":"some day"}"#, #"{"reasons":"bad_json"}"#, #"{"topic":1}"#, "[]", "{",
        ])
    func refused(body: String) {
        #expect(throws: ConsoleProblem.self) { try Self.flags(body) }
    }

    @Test("The choice of a dry run has fixed times and ends at its time")
    func fixed() throws {
        let now: Int64 = 1_764_000_000_000
        let flags = try Self.flags(#"{"since":"1h"}"#)
        #expect(
            flags.fixed(now: now).words == [
                "--since", "2025-11-24T15:00:00.000Z", "--until", "2025-11-24T16:00:00.000Z",
            ])
        // The replay of the same dry run chooses the same, whatever the time is.
        #expect(flags.fixed(now: now).fixed(now: now + 60_000).words == flags.fixed(now: now).words)
    }
}
