import Foundation
import TestSupport
import Testing

/// Requests that are slow, endless, or many.
///
/// Each test has a console of its own. A console that waits for ever is found by the time limit.
@Suite(.timeLimit(.minutes(5))) struct EndlessTests {
    let console: RunningConsole

    init() throws { console = try RunningConsole() }

    /// Expects that the console answers another request, and that its memory is bounded.
    private func expectHealth(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let response = try console.send("GET /api/info", headers: [console.bearer])
        #expect(response.status == 200, sourceLocation: sourceLocation)
        if let kilobytes = console.process.residentKilobytes {
            #expect(kilobytes < 200_000, "the console has \(kilobytes) kB of memory", sourceLocation: sourceLocation)
        }
    }

    @Test("A request whose headers arrive byte by byte is ended after 10 s, and others are answered meanwhile")
    func slowHeaders() throws {
        let slow = try RawClient(port: console.port)
        slow.send("GET /api/info HTTP/1.1\r\nHost: \(console.host)\r\nX: ")
        var sent = 0
        while sent < 80, slow.send("a") {
            sent += 1
            pause(milliseconds: 250)
            #expect(try console.send("GET /").status == 200)
        }
        #expect(sent < 80, "the server still reads after 20 s")
    }

    @Test("A body that never arrives is ended, and others are answered meanwhile")
    func slowBody() throws {
        let slow = try RawClient(port: console.port)
        slow.send(
            "POST /api/resolve HTTP/1.1\r\nHost: \(console.host)\r\n\(console.bearer)\r\nX-Linkd-Console: 1\r\n"
                + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
        try expectHealth()
        _ = try slow.readToEnd()
    }

    @Test("Many idle connections do not keep others out")
    func manyConnections() throws {
        let idle = try (0..<200).map { _ in try RawClient(port: console.port) }
        for client in idle { client.send("GET / HTTP/1.1\r\nHost: \(console.host)\r\n") }
        try expectHealth()
        #expect(idle.count == 200)
    }

    @Test("Endless headers are refused")
    func endlessHeaders() throws {
        let client = try RawClient(port: console.port)
        client.send("GET / HTTP/1.1\r\nHost: \(console.host)\r\n")
        let line = "X-Header: " + String(repeating: "a", count: 1000) + "\r\n"
        var sent = 0
        while sent < 64 << 20, client.send(line) { sent += line.utf8.count }
        #expect(sent < 16 << 20, "\(sent) bytes of headers were taken")
        try expectHealth()
    }

    @Test(
        "An endless body is refused, with its length or without one",
        arguments: ["Content-Length: 999999999999", "Transfer-Encoding: chunked"])
    func endlessBody(framing: String) throws {
        let client = try RawClient(port: console.port)
        client.send(
            "POST /api/resolve HTTP/1.1\r\nHost: \(console.host)\r\n\(console.bearer)\r\nX-Linkd-Console: 1\r\n"
                + "Content-Type: application/json\r\n\(framing)\r\n\r\n")
        let data = String(repeating: " ", count: 65_536)
        let part = framing.contains("chunked") ? "10000\r\n\(data)\r\n" : data
        #expect(client.sends(part, most: 500) < 500, "the server still reads the body")
        try expectHealth()
    }

    @Test("A response that is not read does not keep others out")
    func unread() throws {
        let clients = try (0..<64).map { _ in
            let client = try RawClient(port: console.port)
            client.setReceiveBuffer(bytes: 1024)
            client.send(String(repeating: "GET /main.js HTTP/1.1\r\nHost: \(console.host)\r\n\r\n", count: 50))
            return client
        }
        try expectHealth()
        #expect(clients.count == 64)
    }
}

extension GuardedProcess {
    /// The resident memory of the program in kB, or nil if the system does not say it.
    var residentKilobytes: Int? {
        guard let child, let text = try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8) else {
            return nil
        }
        return text.firstMatch(of: #/VmRSS:\s+(\d+) kB/#).flatMap { Int($0.1) }
    }
}
