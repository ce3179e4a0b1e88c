internal import ByteStorage
internal import LinkCoordinator
internal import RouteTools
internal import StrictJSON

/// The flag `--device`: the facts about a device, as a JSON object.
enum DeviceFlag {
    /// Returns the object, or nil if the flag was not given.
    ///
    /// Throws a failure with exit code 64 if the value is not a JSON object, or has a member that is no fact about a
    /// device or whose value is in no form of that fact.
    static func object(_ text: String?) throws(CommandFailure) -> JSONValue? {
        guard let text else { return nil }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(Array(text.utf8))
        } catch {
            throw failure("flag --device, byte \(error.offset): \(error.text)")
        }
        guard let members = value.object else { throw failure("flag --device: the value is not a JSON object") }
        if let unknown = members.map(\.name).first(where: { !EventColumns.deviceMembers.contains($0) }) {
            let nearest = NearestName.of(unknown, among: EventColumns.deviceMembers)
            throw failure(
                "flag --device: `\(shown(unknown))` is not a member of a device",
                nearest.map { "write `\($0)`" } ?? "use " + EventColumns.deviceMembers.joined(separator: ", "))
        }
        let facts = DeviceFacts(value)
        if let fact = DeviceFacts.Fact.allCases.first(where: facts.unreadable.contains) {
            let form =
                switch fact {
                case .capabilities, .claims: "a list of texts, such as [\"session\"]"
                case .attributes: "an object of texts, such as {\"tier\":\"gold\"}"
                default: "a text of at most 256 bytes"
                }
            throw failure("flag --device: `\(fact.name)` cannot be read", "pass " + form)
        }
        for (name, version) in [("app", facts.app), ("os", facts.os)] {
            guard let version, !isVersion(version) else { continue }
            throw failure(
                "flag --device: `\(name)` is `\(shown(version))`, which is not a version", "pass one such as \"6.1.0\"")
        }
        return value
    }

    private static func failure(
        _ text: String, _ advice: String = "pass a JSON object such as {\"app\":\"6.1.0\"}"
    ) -> CommandFailure {
        CommandFailure(.usage, text, advice: advice)
    }

    private static func shown(_ text: String) -> String { Escaping.visible(DisplayWidth.cut(text, to: 60)) }

    private static func isVersion(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { Version(ByteView($0)) != nil }
    }
}
