import LinkCoordinator
import LinkIngest
import ByteStorage
import Testing

/// The result of a reader, copied into plain values for comparison and output.
struct Snapshot: Equatable {
    var form = ""
    var text = ""
    var mode = "unspecified"
    var params = ""
    var payload = ""
    var id = ""
    var application: String?
    var action = ""
    var expires: Int64?
    var context = ""
    var devices: [Device] = []

    struct Device: Equatable {
        var id = ""
        var isPlain = true
        /// `fact=value` for a known fact and `fact!` for an unreadable one, in declaration order.
        var facts = ""
        var roots: [String] = []
    }

    /// A failure with its pointer.
    struct Refusal: Equatable, Error {
        var reason = ""
        var detail = ""
        var pointer: String?
        var event: String?
    }
}

/// Reads a record from memory of exactly its length, so that a sanitizer detects reads beyond it.
func snapshot(
    _ value: [UInt8], key: [UInt8]?, limits: Limits = Limits(), passthrough: Passthrough = []
) -> Result<Snapshot, Snapshot.Refusal> {
    var reader = EventReader(limits: limits, passthrough: passthrough)
    return snapshot(value, key: key, with: &reader)
}

/// Reads a record with a reader that has read other records before.
func snapshot(
    _ value: [UInt8], key: [UInt8]?, with reader: inout EventReader
) -> Result<Snapshot, Snapshot.Refusal> {
    let valueCopy = ExactBytes(value)
    let keyCopy = ExactBytes(key ?? [])
    let outcome = reader.read(value: valueCopy.view, key: key == nil ? nil : keyCopy.view)
    switch outcome {
    case .failure(let failure):
        #expect(failure.detail.utf8.count <= 512)
        return .failure(
            Snapshot.Refusal(
                reason: failure.reason.rawValue, detail: failure.detail, pointer: failure.pointer(in: valueCopy.view),
                event: failure.event.map { String(decoding: $0, as: UTF8.self) }))
    case .event(let event):
        var seen = Snapshot(event)
        for index in 0..<event.deviceCount {
            guard let device = try? reader.device(at: index) else {
                Issue.record("device \(index) cannot be read a second time")
                continue
            }
            seen.devices.append(Snapshot.Device(device))
        }
        return .success(seen)
    }
}

func snapshot(
    _ value: String, key: String? = nil, limits: Limits = Limits(), passthrough: Passthrough = []
) -> Result<Snapshot, Snapshot.Refusal> {
    snapshot(Array(value.utf8), key: key.map { Array($0.utf8) }, limits: limits, passthrough: passthrough)
}

/// Bytes in memory of exactly their length.
final class ExactBytes {
    private let memory: UnsafeMutablePointer<UInt8>
    private let count: Int

    init(_ bytes: [UInt8]) {
        count = bytes.count
        memory = .allocate(capacity: max(count, 1))
        memory.initialize(from: bytes, count: count)
        if count == 0 { memory.pointee = UInt8(ascii: "{") }
    }

    deinit { memory.deallocate() }

    /// A view that is valid as long as this object.
    var view: ByteView { ByteView(start: UnsafePointer(memory), count: count) }
}

extension Snapshot {
    init(_ event: IngestedEvent) {
        form = "\(event.request.form)"
        text = event.request.text.string
        mode = "\(event.request.mode)"
        params = event.request.params.string
        payload = event.request.payload.string
        id = event.id.string
        application = event.hasApplication ? event.application.string : nil
        action = event.action.string
        expires = event.expires
        context = event.context.string
    }
}

extension Snapshot.Device {
    init(_ device: EventDevice) {
        id = device.id.string
        isPlain = device.isPlain
        facts = Self.text(of: device.facts)
        roots = device.roots.map(\.string)
    }

    private static func text(of facts: DeviceView) -> String {
        let values: [DeviceFacts.Fact: String] = [
            .platform: facts.platform.string, .app: facts.app.string, .os: facts.os.string,
            .locale: facts.locale.string, .region: facts.region.string, .coordinator: facts.coordinator.string,
            .capabilities: facts.capabilities.map(\.string).joined(separator: "+"),
            .claims: facts.claims.map(\.string).joined(separator: "+"),
            .attributes: facts.attributes.map(\.string).joined(separator: "+"),
        ]
        return DeviceFacts.Fact.allCases.compactMap { fact in
            if facts.has(fact) { return "\(fact)=\(values[fact] ?? "")" }
            return facts.unreadable & fact.bit != 0 ? "\(fact)!" : nil
        }.joined(separator: " ")
    }
}
