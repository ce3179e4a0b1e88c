/// The limits of a record and of its decisions.
package struct Limits: Sendable, Equatable {
    /// The size limit of a value, in bytes (`limits.record.bytes`).
    package var recordBytes: Int
    /// The limit of nested objects and arrays (`limits.json.depth`).
    ///
    /// `payload` allows one more level, so that it accepts every push body that is accepted as a whole record.
    package var depth: Int
    /// The limit of devices in one event (`limits.devices`).
    package var devices: Int
    /// The size limit of a decision, in bytes (`limits.decision.bytes`).
    package var decisionBytes: Int
    /// The size limit of all decisions of one record, in bytes (`limits.output.bytes`).
    package var outputBytes: Int

    /// The size limit of an event's id, in bytes.
    static let eventIDBytes = 128
    /// The size limit of a device's id, in bytes.
    static let deviceIDBytes = 256
    /// The size limit of a string among the facts, in bytes.
    static let factBytes = 256
    /// The size limit of a header of a push request, in bytes.
    static let headerBytes = 256
    /// The size limit of all headers of a record that are copied to each of its decisions, in bytes.
    package static let traceBytes = 16 << 10
    /// The limit of elements in a list or object among the facts.
    static let factElements = 256
    /// The limit of passthrough members.
    static let contextNames = 16
    /// The size limit of a member that is passed through by default, in bytes as in the event.
    static let contextTextBytes = 256
    /// The size limit of the values in `context`, in bytes of output.
    static let contextBytes = 4096

    /// Creates limits.
    ///
    /// The default values are the same as in the settings.
    package init(
        recordBytes: Int = 1 << 20, depth: Int = 64, devices: Int = 500, decisionBytes: Int = 1_000_000,
        outputBytes: Int = 8 << 20
    ) {
        self.recordBytes = recordBytes
        self.depth = depth
        self.devices = devices
        self.decisionBytes = decisionBytes
        self.outputBytes = outputBytes
    }
}
