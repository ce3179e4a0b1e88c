/// Bounds of what is read from one record.
package struct IngestLimits: Sendable, Equatable {
    /// `limits.record.bytes`: longest value, in bytes.
    package var recordBytes: Int
    /// `limits.json.depth`: most objects and arrays inside one another; in `payload` one more, so that a push which is
    /// a record by itself may be sent there, as `resume` does.
    package var depth: Int
    /// `limits.devices`: most devices of one event.
    package var devices: Int

    /// Bytes of an event's id.
    static let eventIDBytes = 128
    /// Bytes of a device's id.
    static let deviceIDBytes = 256
    /// Bytes of a text among the facts of a device, and most elements of a list or object among them.
    static let factBytes = 256
    /// Most elements of a list or object among the facts of a device.
    static let factElements = 256
    /// Most members that are passed through into `context`.
    static let contextNames = 16
    /// Bytes of the values of `context`, as they go out.
    static let contextBytes = 4096

    /// Makes limits; without arguments those of the settings table.
    package init(recordBytes: Int = 1 << 20, depth: Int = 64, devices: Int = 500) {
        self.recordBytes = recordBytes
        self.depth = depth
        self.devices = devices
    }
}
