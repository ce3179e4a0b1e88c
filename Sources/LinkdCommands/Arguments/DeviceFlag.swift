internal import LinkCoordinator
internal import StrictJSON

/// The flag `--device`: the facts about a device, as a JSON object.
enum DeviceFlag {
    /// Returns the object, or nil if the flag was not given.
    ///
    /// Throws a failure with exit code 64 if the value is not a JSON object.
    static func object(_ text: String?) throws(CommandFailure) -> JSONValue? {
        guard let text else { return nil }
        do throws(JSONError) {
            let value = try JSONValue.parse(Array(text.utf8))
            if value.object != nil { return value }
        } catch {
            throw CommandFailure(
                .usage, "flag --device, byte \(error.offset): \(error.text)",
                advice: "pass a JSON object such as {\"app\":\"6.1.0\"}")
        }
        throw CommandFailure(
            .usage, "flag --device: the value is not a JSON object",
            advice: "pass a JSON object such as {\"app\":\"6.1.0\"}")
    }

    /// Returns the device.
    ///
    /// A device without the flag has no known facts.
    static func device(_ text: String?) throws(CommandFailure) -> DeviceFacts {
        try object(text).map { DeviceFacts($0) } ?? DeviceFacts()
    }
}
