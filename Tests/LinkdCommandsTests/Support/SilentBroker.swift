internal import Glibc

/// A socket that accepts connections, and never answers.
final class SilentBroker: Sendable {
    /// The port on 127.0.0.1.
    let port: UInt16
    private let descriptor: Int32

    /// Opens the socket.
    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = descriptor
        let isOpen = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // The system accepts the connections of the backlog by itself.
                bind(socket, address, size) == 0 && listen(socket, 128) == 0 && getsockname(socket, address, &size) == 0
            }
        }
        guard isOpen else { throw CancellationError() }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}
