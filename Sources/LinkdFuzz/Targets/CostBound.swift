/// The bound for the cost of a record, which depends on the bytes read and written and on the devices.
package struct CostBound: Sendable {
    /// The nanoseconds for a megabyte read and written.
    package static let perMegabyte = 20_000_000.0
    /// The nanoseconds for a device.
    package static let perDevice = 20_000.0

    /// The factor for builds with checks, which are slower.
    var slack: Double
    /// The nanoseconds that any record can take, because shorter times are noise.
    var floor: Double

    /// No bound.
    package static let none = CostBound(slack: .infinity, floor: 0)
    /// The bound of a release build.
    package static let release = CostBound(slack: 1, floor: 30_000)
    /// The bound of a build with sanitizers.
    package static let sanitized = CostBound(slack: 25, floor: 30_000_000)

    /// Returns the bound in nanoseconds, without slack.
    package static func nanoseconds(bytes: Int, devices: Int) -> Double {
        Double(bytes) / 1_000_000 * perMegabyte + Double(devices) * perDevice
    }

    /// Returns the bound in nanoseconds, with slack and floor.
    func nanoseconds(bytes: Int, devices: Int) -> Double {
        floor + slack * Self.nanoseconds(bytes: bytes, devices: devices)
    }

    /// Returns a Boolean value that indicates whether a time exceeds the bound.
    func isOver(_ time: UInt64, bytes: Int, devices: Int) -> Bool {
        slack < .infinity && Double(time) > nanoseconds(bytes: bytes, devices: devices)
    }
}
