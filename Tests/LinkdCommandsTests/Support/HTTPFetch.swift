internal import Foundation

/// A request to a server on the loopback interface, with a connection of its own.
struct HTTPFetch {
    struct Failure: Error, CustomStringConvertible { var description: String }

    /// The status code.
    let status: Int
    /// The lines of the response before the body.
    let head: String
    /// The body.
    let body: String

    /// Sends a request, and reads the response to its end.
    init(_ address: String, _ path: String, method: String = "GET") throws {
        let port = UInt16(address.split(separator: ":").last ?? "") ?? 0
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        target.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(description: "no connection to \(address)") }
        let request = Array("\(method) \(path) HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw Failure(description: "the request to \(address) was not sent")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n\r\n", maxSplits: 1)
        guard let first = parts.first, let status = Int(first.split(separator: " ").dropFirst().first ?? "") else {
            throw Failure(description: "no response of \(address)")
        }
        self.status = status
        head = String(first)
        body = parts.count > 1 ? String(parts[1]) : ""
    }

    /// Returns the value of the first sample of `/metrics` whose line begins with a text, or nil.
    func value(_ series: String) -> Double? {
        let line = body.split(separator: "\n").first { $0.hasPrefix(series) && !$0.hasPrefix("#") }
        return line?.split(separator: " ").last.flatMap { Double($0) }
    }
}

extension RunningLinkd {
    /// The address of the HTTP server, once the log has it.
    var httpAddress: String? {
        guard says(#""event":"http""#) else { return nil }
        return log.firstMatch(of: #/"event":"http".*"address":"([^"]+)"/#).map { String($0.1) }
    }
}
