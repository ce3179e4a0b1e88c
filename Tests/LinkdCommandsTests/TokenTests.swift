internal import Foundation
internal import KafkaClient
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

/// Tokens of OAUTHBEARER from files and commands.
@Suite struct TokenTests {
    private static let now: Int64 = 1_800_000_000_000

    /// Returns a JSON Web Token with these claims and an invalid signature.
    private static func signed(_ claims: String) -> String { WebToken.text(claims, signature: "c2ln") }

    @Test(
        "A JSON Web Token is renewed after 80 % of its time", arguments: ["1800000100", "1800000100.0", "18000001e2"])
    func renewalTime(expiry: String) throws {
        let text = Self.signed(#"{"sub":"alice?>~","exp":\#(expiry)}"#)
        let token = try TokenProvider.token(Array((" " + text + "\r\n").utf8), now: Self.now, from: "it")
        #expect(token.value == text)
        #expect(token.principal == "alice?>~")
        #expect(token.expiresAt == Self.now + 100_000)
        #expect(token.renewAfter == 80_000)
    }

    @Test(
        "A token without a readable expiry is read again after a minute",
        arguments: [
            "opaque", "a.b.c", "a.!.c", "..", signed("[]"), signed("{}"), signed(#"{"exp":"1"}"#),
            signed(#"{"exp":1e300}"#), signed(#"{"exp":-1}"#), signed(String(repeating: "[", count: 9_000)),
        ])
    func opaque(text: String) throws {
        let token = try TokenProvider.token(Array(text.utf8), now: Self.now, from: "it")
        #expect(token.value == text)
        #expect(token.renewAfter == 60_000)
    }

    @Test(
        "A text that is no token is refused, and is not in the message",
        arguments: ["", " \n", "two words", "caf\u{E9}", "a\u{0}b", signed(#"{"exp":1}"#)])
    func refused(text: String) {
        let failure = #expect(throws: TokenFailure.self) {
            try TokenProvider.token(Array(text.utf8), now: Self.now, from: "the token file t")
        }
        #expect(failure?.text.hasPrefix("the token file t contains ") == true)
        if text.count > 2 { #expect(failure?.text.contains(text) == false) }
    }

    @Test("A command prints the token, without a shell")
    func command() throws {
        let bytes = try ProgramOutput.of(["printf", "a;b$HOME"], limit: 100, milliseconds: 10_000)
        #expect(String(decoding: bytes, as: UTF8.self) == "a;b$HOME")
    }

    @Test(
        "A command that fails, hangs, or prints too much is an error", .timeLimit(.minutes(5)),
        arguments: [
            (["/no/such/program"], "cannot be started: No such file or directory"),
            (["false"], "failed with exit code 1"),
            (["sh", "-c", "kill -9 $$"], "failed with signal 9"), (["sleep", "600"], "took too long"),
            (["sh", "-c", "sleep 600 & echo token"], "took too long"), (["yes"], "printed more than 100 bytes"),
            ([], "is empty"),
        ])
    func failing(words: [String], expected: String) {
        let failure = #expect(throws: ProgramFailure.self) {
            _ = try ProgramOutput.of(words, limit: 100, milliseconds: 300)
        }
        #expect(failure?.text == expected)
    }

    @Test("A source fetches when it is time, and pauses after a failure")
    func renewal() {
        let clock = Mutex(Int64(0))
        let calls = Mutex(0)
        let reports = Mutex([String]())
        let source = TokenSource(
            // The time of day goes backward, and delays nothing.
            now: { -clock.withLock { $0 } }, elapsed: { clock.withLock { $0 } },
            fetch: { () throws(TokenFailure) in
                let call = calls.withLock { count in
                    count += 1
                    return count
                }
                if call == 2 { throw TokenFailure("no") }
                return ClientToken(value: "t", principal: "p", expiresAt: 100_000, renewAfter: 80_000)
            },
            report: { result in
                reports.withLock { $0.append((try? result.get())?.value ?? "failure") }
            })
        let expected = [(0, 1), (79_999, 1), (80_000, 2), (89_999, 2), (90_000, 3), (169_999, 3), (170_000, 4)]
        for (time, expected) in expected {
            clock.withLock { $0 = Int64(time) }
            source.renew()
            #expect(calls.withLock { $0 } == expected, "at \(time)")
        }
        source.renew(isChanged: true)
        #expect(calls.withLock { $0 } == 5)
        // The same token again is no news.
        #expect(reports.withLock { $0 } == ["t", "failure"])
    }

    @Test(
        "A token that cannot be read ends a command with exit code 77 and the reason",
        arguments: [
            (["--sasl-token-file", "/no/such/token"], "the token file /no/such/token cannot be read"),
            (["--sasl-token-file", "/dev/zero"], "it is not a regular file"),
            (["--sasl-token-command", "false"], "the token command false failed with exit code 1"),
            (["--sasl-token-command", "yes"], "the token command yes printed more than 65536 bytes"),
        ])
    func unreadable(flags: [String], expected: String) throws {
        let result = try LinkdProcess.run(
            [
                "topics", "check", "-b", "127.0.0.1:1", "-X", "security.protocol=sasl_plaintext", "-X",
                "sasl.mechanisms=OAUTHBEARER", "--start-timeout", "5s",
            ] + flags)
        #expect(result.code == 77, "\(result.err)")
        #expect(result.err.contains(expected), "\(result.err)")
        #expect(result.err.contains("correct sasl.token.file, sasl.token.command, or "), "\(result.err)")
    }

    @Test("A token command that runs is killed at the end of a worker")
    func endedWorker() throws {
        let folder = try TableFolder()
        try folder.write("a.json", TableFolder.text("a", version: 1))
        let beat = "i=0; while :; do i=$((i+1)); echo $i > \(folder.path("beat")); sleep 0.05; done"
        try folder.write("token.sh", beat)
        func count() -> String? { try? String(contentsOfFile: folder.path("beat"), encoding: .utf8) }
        let worker = try RunningLinkd(
            [
                "worker", "-b", "127.0.0.1:1", "--table", folder.path("a.json"), "--vendors", "none",
                "--link-platforms", "none", "-X", "security.protocol=sasl_plaintext",
                "-X", "sasl.mechanisms=OAUTHBEARER", "--sasl-token-command", "sh \(folder.path("token.sh"))",
            ])
        #expect(becomesTrue(withinSeconds: 60) { count() != nil })
        worker.signal(SIGTERM)
        #expect(try worker.end() == 0, "\(worker.log)")
        let last = count()
        Thread.sleep(forTimeInterval: 0.5)
        #expect(count() == last)
    }

    @Test("The end of a token command is known in a process that was started with SIGCHLD ignored")
    func ignoredSignal() throws {
        let result = try ChildProcess.run(
            ["bash", "-c", "trap '' CHLD; exec \"$@\"", "bash", BuiltProgram.linkd, "topics", "check"]
                + ["-b", "127.0.0.1:1", "-X", "security.protocol=sasl_plaintext"]
                + ["-X", "sasl.mechanisms=OAUTHBEARER", "--start-timeout", "5s", "--sasl-token-command", "false"])
        #expect(result.status == 77)
        #expect(result.errors.contains("the token command false failed with exit code 1"), "\(result.errors)")
    }
}

/// JSON Web Tokens for tests.
enum WebToken {
    /// Returns a token with these claims and a signature, or without one, as an unsecured token has none.
    static func text(_ claims: String, signature: String = "") -> String {
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
        }
        return part(#"{"alg":"none"}"#) + "." + part(claims) + "." + signature
    }

    /// Returns an unsecured token for a user that expires after a number of seconds.
    static func unsecured(_ user: String, seconds: Int) -> String {
        let now = Int(Date().timeIntervalSince1970)
        return text(#"{"sub":"\#(user)","iat":\#(now),"exp":\#(now + seconds)}"#)
    }
}
