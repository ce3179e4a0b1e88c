internal import CLibrary
internal import Synchronization

/// A sender of the worker's state to the service manager systemd (`sd_notify`).
///
/// A message is one datagram to the socket that `NOTIFY_SOCKET` names. Sending never waits. Each function returns a
/// Boolean value that indicates whether the message was sent.
package final class SystemdNotifier: Sendable {
    /// The maximum length of a socket's name in bytes.
    package static let nameLimit = 107
    /// The maximum length of a status in characters.
    package static let statusLimit = 256

    /// The value of `NOTIFY_SOCKET`.
    package let socketName: String
    /// The time in milliseconds after which systemd restarts a service that has not sent `watchdog`, or nil.
    package let watchdogMilliseconds: Int?
    /// The socket, or -1.
    private let descriptor: Int32
    private let phase = Atomic<Phase>(.starting)

    /// The part of the service's life, in which systemd expects different messages.
    private enum Phase: UInt8, AtomicRepresentable {
        case starting, ready, stopping
    }

    /// Creates a sender, or returns nil if the process was not started by systemd with `Type=notify`.
    package init?(environment: [String: String]) {
        guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
        socketName = name
        watchdogMilliseconds = Self.watchdog(environment)
        descriptor = Self.makeSocket()
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private static func watchdog(_ environment: [String: String]) -> Int? {
        guard let time = environment["WATCHDOG_USEC"].flatMap({ Int($0) }), time >= 1_000 else { return nil }
        if let process = environment["WATCHDOG_PID"], !process.isEmpty, process != "\(getpid())" { return nil }
        return time / 1_000
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptor
    }

    /// Reports that the start is complete.
    @discardableResult
    package func ready() -> Bool {
        _ = phase.compareExchange(expected: .starting, desired: .ready, ordering: .relaxed)
        return send("READY=1")
    }

    /// Reports that the service loads its configuration again while `body` runs.
    ///
    /// Nothing is reported before the start is complete, which `READY=1` would claim, and after the service stops.
    package func reload(_ body: () -> Void) {
        let isReady = phase.load(ordering: .relaxed) == .ready
        if isReady { send("RELOADING=1\nMONOTONIC_USEC=\(SystemClock.monotonicNanoseconds() / 1_000)") }
        body()
        if isReady, phase.load(ordering: .relaxed) == .ready { send("READY=1") }
    }

    /// Reports that the service finishes its work and ends.
    @discardableResult
    package func stopping() -> Bool {
        phase.store(.stopping, ordering: .relaxed)
        return send("STOPPING=1")
    }

    /// Reports that the start takes longer, with a description of what it does.
    ///
    /// The service manager then waits for another 30 s (`EXTEND_TIMEOUT_USEC` of sd_notify(3)).
    @discardableResult
    package func extendStart(_ text: String) -> Bool { send("EXTEND_TIMEOUT_USEC=30000000") && status(text) }

    /// Reports that the service works.
    @discardableResult
    package func watchdog() -> Bool { send("WATCHDOG=1") }

    /// Reports the first line of a description of the state, up to `statusLimit` characters.
    @discardableResult
    package func status(_ text: String) -> Bool {
        send("STATUS=\(text.prefix { !$0.isNewline }.prefix(Self.statusLimit))")
    }

    @discardableResult
    private func send(_ message: String) -> Bool {
        var name = Array(socketName.utf8)
        guard descriptor >= 0, name.count <= Self.nameLimit, !name.contains(0) else { return false }
        switch name.first {
        case UInt8(ascii: "/"): break
        // The name of an abstract socket begins with a zero byte.
        case UInt8(ascii: "@"): name[0] = 0
        default: return false
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // An abstract name ends with the address, a path also at a zero byte.
        let prefix = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let length = socklen_t(prefix + name.count)
        let bytes = Array(message.utf8)
        let sent = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Self.flags, $0, length)
            }
        }
        return sent == bytes.count
    }

    private static var flags: Int32 {
        #if canImport(Darwin)
        Int32(MSG_DONTWAIT)
        #else
        Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        #endif
    }
}
