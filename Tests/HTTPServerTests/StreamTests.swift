import Foundation
@testable import HTTPServer
import Synchronization
import TestSupport
import Testing

/// Responses that are sent as they become available, and the stop of a server.
@Suite struct StreamTests {
    private func response(_ stream: HTTPStream) -> HTTPResponse {
        HTTPResponse(contentType: "text/event-stream", body: .stream(stream))
    }

    @Test("A client receives each part of a stream when it is sent, and then the end")
    func parts() throws {
        let stream = HTTPStream()
        let server = try HTTPServer.test { [response = response(stream)] _ in response }
        let client = try TestClient(server)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try client.readHead()
        #expect(head.status == 200 && head.headers["content-type"] == "text/event-stream")
        for number in 0..<20 {
            #expect(stream.send("data: \(number)\n\n".utf8) == .queued)
            #expect(try client.readChunk() == Array("data: \(number)\n\n".utf8))
        }
        stream.send("last".utf8)
        stream.finish()
        #expect(try client.readChunk() == Array("last".utf8))
        #expect(try client.readChunk() == nil)
        #expect(stream.send("more".utf8) == .closed)
    }

    @Test("The connection is usable after the end of a stream")
    func nextRequest() throws {
        let server = try HTTPServer.test { request in
            guard request.path == "/stream" else { return .text("ok") }
            let stream = HTTPStream()
            stream.send("a".utf8)
            stream.finish()
            return HTTPResponse(contentType: "text/plain", body: .stream(stream))
        }
        let client = try TestClient(server)
        for _ in 0..<10 {
            #expect(try client.request("GET /stream").text == "a")
            #expect(try client.request("HEAD /stream").status == 200)
            #expect(try client.request("GET /").text == "ok\n")
        }
    }

    @Test("A slow reader fills the queue, and the producer does not wait")
    func slowReader() throws {
        let stream = HTTPStream(maxBytes: 100_000)
        let server = try HTTPServer.test { [response = response(stream)] in $0.path == "/" ? response : .text("ok") }
        let client = try TestClient(server)
        client.setReceiveBuffer(bytes: 4096)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let part = [UInt8](repeating: 65, count: 10_000)
        // The buffers of the system are a few megabytes at most.
        var queued = 0
        #expect(
            eventually {
                while stream.send(part) == .queued { queued += part.count }
                return queued > 100_000 && stream.send(part) == .full
            })
        #expect(queued < 50_000_000)
        #expect(try TestClient(server).request("GET /other").text == "ok\n")
        stream.finish()
        var read = 0
        _ = try client.readHead()
        while let chunk = try client.readChunk() { read += chunk.count }
        #expect(read == queued || read > 100_000)
    }

    @Test("A reader that takes nothing is cut off at the time limit")
    func stuckReader() throws {
        let stream = HTTPStream()
        let server = try HTTPServer.limited(
            { $0.responseMilliseconds = 300 }, { [response = response(stream)] _ in response })
        let client = try TestClient(server)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.readHead()
        let part = [UInt8](repeating: 65, count: 10_000)
        #expect(eventually { stream.send(part) == .closed })
        #expect(stream.isClosed)
    }

    @Test("A stream without bytes stays open beyond the time limit of responses")
    func quietStream() throws {
        let stream = HTTPStream()
        let server = try HTTPServer.limited(
            { $0.responseMilliseconds = 200 }, { [response = response(stream)] _ in response })
        let client = try TestClient(server)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try client.readHead()
        usleep(600_000)
        stream.send("late".utf8)
        #expect(try client.readChunk() == Array("late".utf8))
    }

    @Test("A stream learns that its client has left, also without sending")
    func departure() throws {
        let stream = HTTPStream()
        let server = try HTTPServer.test { [response = response(stream)] _ in response }
        do {
            let client = try TestClient(server)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try client.readHead()
        }
        #expect(eventually { stream.isClosed })
    }

    @Test("A stream that already belongs to a response is not sent a second time")
    func usedTwice() throws {
        let stream = HTTPStream()
        let server = try HTTPServer.test { [response = response(stream)] _ in response }
        let first = try TestClient(server)
        first.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try first.readHead().status == 200)
        #expect(try TestClient(server).request("GET /").status == 500)
        stream.send("still open".utf8)
        #expect(try first.readChunk() == Array("still open".utf8))
    }

    @Test("A stream of a handler that is too late is closed, so that its producer learns it", arguments: [true, false])
    func discardedStream(isStopped: Bool) throws {
        let stream = HTTPStream()
        let isReleased = Mutex(false)
        let server = try HTTPServer.limited {
            $0.handlerMilliseconds = 200
            $0.stopMilliseconds = 100
        } _: { [response = response(stream)] _ in
            _ = eventually { isReleased.withLock { $0 } }
            return response
        }
        #expect(try TestClient(server).request("GET /").status == 503)
        if isStopped { server.stop() }
        isReleased.withLock { $0 = true }
        #expect(eventually { stream.isClosed })
    }

    @Test("A download is produced as it is read, and never exceeds the queue")
    func download() throws {
        let total = 3_000_000
        let left = Mutex(total)
        let server = try HTTPServer.test { _ in
            let stream = HTTPStream(maxBytes: 50_000) { stream in
                left.withLock { left in
                    while left > 0, stream.send(repeatElement(UInt8(65), count: min(left, 10_000))) == .queued {
                        left -= min(left, 10_000)
                    }
                    if left == 0 { stream.finish() }
                }
            }
            return HTTPResponse(contentType: "text/csv", body: .stream(stream))
        }
        #expect(try TestClient(server).request("GET /").body.count == total)
    }

    @Test("A stop ends open streams, answers running requests, and closes idle connections")
    func stop() throws {
        let stream = HTTPStream()
        let isRunning = Mutex(false)
        let isReleased = Mutex(false)
        let server = try HTTPServer.limited {
            $0.stopMilliseconds = 10_000
        } _: { [response = response(stream)] request in
            if request.path == "/stream" { return response }
            isRunning.withLock { $0 = true }
            _ = eventually { isReleased.withLock { $0 } }
            return .text("done")
        }
        let streaming = try TestClient(server)
        streaming.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try streaming.readHead()
        stream.send("part".utf8)
        let idle = try TestClient(server)
        let running = try TestClient(server)
        running.send("GET /run HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(eventually { isRunning.withLock { $0 } })
        let stopping = Thread { server.stop() }
        stopping.start()
        #expect(try idle.readToEnd() == "")
        #expect(try streaming.readChunk() == Array("part".utf8))
        #expect(try streaming.readChunk() == nil)
        isReleased.withLock { $0 = true }
        let response = try running.read()
        #expect(response.text == "done\n" && response.headers["connection"] == "close")
        #expect(eventually { stopping.isFinished })
        #expect(throws: TestClient.Failure.self) { try TestClient(server).request("GET /") }
    }

    @Test("A stop does not wait longer than its limit for a handler, a stream, and a slow reader")
    func boundedStop() throws {
        let isReleased = Mutex(false)
        let ended = Mutex(0)
        let stream = HTTPStream(maxBytes: 20_000_000)
        stream.send([UInt8](repeating: 65, count: 20_000_000))
        let server = try HTTPServer.limited {
            $0.stopMilliseconds = 200
        } _: { [response = response(stream)] request in
            if request.path == "/stream" { return response }
            _ = eventually { isReleased.withLock { $0 } }
            ended.withLock { $0 += 1 }
            return .text("done")
        }
        let clients = try ["/stream", "/run", "/run", "/run"].map { path in
            let client = try TestClient(server)
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            return client
        }
        _ = try clients[0].readHead()
        server.stop()
        #expect(ended.withLock { $0 } == 0, "the stop has waited for handlers")
        #expect(stream.isClosed)
        isReleased.withLock { $0 = true }
        server.stop()
    }
}
