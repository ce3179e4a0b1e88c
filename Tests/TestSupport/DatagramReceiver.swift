import Foundation

/// A socket of the system that receives datagrams, as systemd has.
package final class DatagramReceiver {
    private let descriptor: Int32

    /// Binds a socket, whose name begins with a zero byte if it is abstract.
    ///
    /// Throws `ChildProcess.Failure` if the name cannot be used.
    package init(_ name: [UInt8]) throws {
        #if canImport(Darwin)
        descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let prefix = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let length = socklen_t(prefix + name.count)
        let code = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        if code != 0 { throw ChildProcess.Failure(text: "the socket cannot be bound") }
    }

    deinit { close(descriptor) }

    /// Returns the next datagram, or nil if none has arrived.
    package func next() -> String? {
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }
}
