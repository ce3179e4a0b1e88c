internal import ByteStorage
internal import LinkCoordinator
internal import LinkIngest
internal import RouteTools
internal import StrictJSON

/// The records of the registry that the lines of `linkd produce --devices` stand for.
///
/// A line is a JSON object with the member `id`, the facts of the device, and optionally its `user`. The member
/// `deleted` deletes the device if it is true, whatever else the line says.
final class DeviceRecords {
    /// A record of the registry.
    struct Record {
        /// The id of the device.
        var key: ByteView
        /// The value of the device, or nil to delete it.
        var value: ByteView?
    }

    /// The name of the member that deletes a device.
    static let deletion = "deleted"
    private static let names = EventColumns.deviceMembers + ["user"]
    private static let eventNames = ["link", "payload", "devices"]
    /// The limit of nested objects and arrays, which a worker's reader has too.
    private static let depth = 8

    private var reader: RegisteredDeviceReader
    private var cursor = JSONCursor(maxDepth: DeviceRecords.depth)
    private var arena = OutputArena(chunkBytes: 16 << 10)

    /// Creates a check with the facts that a worker stores.
    init(_ members: DeviceMembers) { reader = RegisteredDeviceReader(members) }

    /// Returns the record of a line, which is valid until the next call, or the reason why it has none.
    func record(of line: ByteView) -> Result<Record, EventLine.Fault> {
        guard line.count <= RegisteredDeviceReader.maxValueBytes else {
            return Self.fault("the device has more than \(RegisteredDeviceReader.maxValueBytes) bytes")
        }
        arena.reset()
        var members: [JSONMember]
        do throws(JSONError) {
            guard let object = try JSONValue.parse(line, with: &cursor).object else {
                return Self.fault("the line is not a JSON object")
            }
            members = object
        } catch {
            return Self.fault("bad_json\(InputPlace.text(pointer: "", in: line.array)): \(error.text)")
        }
        guard let id = Self.remove("id", from: &members)?.string else {
            return Self.fault("the device has no `id` that is a string")
        }
        let key = arena.copy(Array(id.utf8))
        guard RegisteredDeviceReader.isID(key) else { return Self.fault("`id` has no bytes, or more than 256") }
        switch Self.remove(Self.deletion, from: &members)?.kind ?? .null {
        case .bool(true): return .success(Record(key: key, value: nil))
        case .bool(false), .null: break
        default: return Self.fault("`\(Self.deletion)` is not true or false")
        }
        // A line replaces all that was known, so a fact with a misspelled name would be lost. Exports have other
        // members too, which are ignored.
        let names = members.map(\.name)
        if let name = names.first(where: Self.eventNames.contains) {
            return Self.fault("the line is an event, because it has `\(name)`")
        }
        for name in names where name.utf8.count > 4 && !Self.names.contains(name) {
            guard let nearest = NearestName.of(name, among: Self.names), !names.contains(nearest),
                NearestName.edits(Array(name.utf8), Array(nearest.utf8)) == 1
            else { continue }
            return Self.fault("`\(Escaping.visible(name))` is not a member of a device, write `\(nearest)`")
        }
        let value = text(of: members)
        if reader.read(value) != nil { return .success(Record(key: key, value: value)) }
        return Self.fault(reason(members))
    }

    /// Removes the member with a name, and returns its value.
    private static func remove(_ name: String, from members: inout [JSONMember]) -> JSONValue? {
        guard let index = members.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        return members.remove(at: index).value
    }

    /// Returns the object with members, without white space.
    private func text(of members: [JSONMember]) -> ByteView {
        arena.begin()
        JSONValue(.object(members)).write(into: &arena)
        return arena.finish()
    }

    /// Returns the reason why a worker would not take a device.
    ///
    /// A member that is malformed alone is at fault. Otherwise, the members together exceed the limit.
    private func reason(_ members: [JSONMember]) -> String {
        for member in members where reader.read(text(of: [member])) == nil {
            return "the member `\(Escaping.visible(member.name))` has a wrong type, or exceeds a limit"
        }
        return "the facts to store have more than \(RegisteredDeviceReader.maxBytes) bytes"
    }

    private static func fault(_ text: String) -> Result<Record, EventLine.Fault> {
        .failure(EventLine.Fault(text: text))
    }
}
