internal import HTTPServer
internal import SystemThreads

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The addresses of a host, with a limit of the time that the system's resolver takes.
///
/// A resolver cannot be ended. A thread of its own waits for it, and at most one such thread exists.
enum HostAddresses {
    /// An address of a socket.
    struct Address: Equatable, Sendable {
        /// The family of the addresses.
        var family: Int32
        /// The bytes of the system's structure.
        var bytes: [UInt8]
    }

    /// A function that asks a resolver.
    typealias Resolver = @Sendable (ListenAddress) -> [Address]

    private static let isResolving = Monitor(false)

    /// Returns the addresses of a host, or nil if the resolver does not answer in time.
    ///
    /// - Parameters:
    ///   - address: The host and the port.
    ///   - deadline: The time on the monotonic clock at which the wait ends.
    ///   - resolver: The function that asks the resolver for the addresses of a name.
    static func find(
        _ address: ListenAddress, until deadline: Double, _ resolver: @escaping Resolver = { list($0, flags: 0) }
    ) -> [Address]? {
        // An IP address needs no resolver.
        let literal = list(address, flags: AI_NUMERICHOST)
        guard literal.isEmpty else { return literal }
        let isFree = isResolving.wait(milliseconds: milliseconds(deadline)) { (isResolving: inout Bool) -> Bool? in
            guard !isResolving else { return nil }
            isResolving = true
            return true
        }
        guard isFree == true else { return nil }
        let answer = Monitor<[Address]?>(nil)
        let isStarted = SystemThread.start("resolver") {
            let found = resolver(address)
            isResolving.signal { $0 = false }
            answer.signal { $0 = found }
        }
        guard isStarted else {
            isResolving.signal { $0 = false }
            return nil
        }
        return answer.wait(milliseconds: milliseconds(deadline)) { $0 }
    }

    private static func milliseconds(_ deadline: Double) -> Int {
        Int(max(0, deadline - Platform.monotonicSeconds) * 1000)
    }

    /// The type of a socket for TCP.
    static var streamType: Int32 {
        #if canImport(Glibc)
        Int32(SOCK_STREAM.rawValue)
        #else
        SOCK_STREAM
        #endif
    }

    /// Returns the addresses that the system's resolver knows.
    private static func list(_ address: ListenAddress, flags: Int32) -> [Address] {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_socktype = streamType
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [Address] = []
        var next = list
        while let info = next {
            next = info.pointee.ai_next
            guard let name = info.pointee.ai_addr else { continue }
            let bytes = UnsafeRawBufferPointer(start: name, count: Int(info.pointee.ai_addrlen))
            found.append(Address(family: info.pointee.ai_family, bytes: Array(bytes)))
        }
        return found
    }
}
