import Foundation

/// The ports of brokers of a mock cluster that are down, from after `setDown` until after `setUp`.
///
/// A mock cluster ends the process if it cannot listen again on the port of a broker that was down. A connection can
/// get the port meanwhile, so that a socket keeps it that does not listen.
package final class PortKeeper {
    package struct PortError: Error {}

    private var sockets: [Int32] = []

    /// Keeps the port of a broker, or those of all brokers with -1.
    package init(_ bootstrapServers: String, broker: Int32 = -1) throws {
        for (index, address) in bootstrapServers.split(separator: ",").enumerated()
        where broker < 0 || index == Int(broker) - 1 {
            guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else { throw PortError() }
            sockets.append(try Self.keep(port))
        }
    }

    deinit { release() }

    /// Releases the ports.
    package func release() {
        for socket in sockets { close(socket) }
        sockets = []
    }

    /// Binds a socket to a port, and waits at most 60 s for a connection that has it.
    private static func keep(_ port: UInt16) throws -> Int32 {
        let keeper = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // Sockets with this option share a port while none of them listens.
        var isShared: Int32 = 1
        setsockopt(keeper, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<Int32>.size))
        for _ in 0..<600 {
            if KafkaProxy.withAddress(port, { bind(keeper, $0, $1) }) == 0 { return keeper }
            Thread.sleep(forTimeInterval: 0.1)
        }
        close(keeper)
        throw PortError()
    }
}
