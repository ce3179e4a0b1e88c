import Foundation
@testable import HTTPServer
import TestSupport

/// A client with a real socket, which sends exactly the bytes of a test.
typealias TestClient = RawClient

extension RawClient {
    /// Connects from a loopback address, such as 127.0.0.2, so that several clients have different addresses.
    convenience init(_ server: HTTPServer, from source: String = "127.0.0.1", seconds: Int = 20) throws {
        let host = server.address.host
        try self.init(
            port: server.address.port, host: host.hasPrefix("127.") ? host : "127.0.0.1", from: source,
            seconds: seconds)
    }
}

extension HTTPServer {
    /// Starts a server on a free port of the loopback interface.
    static func test(
        _ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .text("ok") }
    ) throws -> HTTPServer {
        try limited({ _ in }, handler)
    }

    /// Starts a server with other limits than the default ones.
    static func limited(
        _ change: (inout HTTPServerConfiguration) -> Void,
        _ handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .text("ok") }
    ) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0))
        change(&configuration)
        return try HTTPServer(configuration, handler: handler)
    }
}

/// Returns true as soon as a condition is true, or false after 20 s.
func eventually(_ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(20)
    while !condition() {
        if ContinuousClock.now > end { return false }
        usleep(2_000)
    }
    return true
}
