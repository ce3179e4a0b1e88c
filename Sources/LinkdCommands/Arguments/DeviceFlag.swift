internal import LinkCoordinator
internal import StrictJSON

/// The flag `--device`: what is known of a device, as a JSON object.
enum DeviceFlag {
    /// The object, or nil where the flag was not given.
    ///
    /// Anything else than an object ends with 64.
    static func object(_ text: String?) throws(CommandFailure) -> JSONValue? {
        guard let text else { return nil }
        do throws(JSONError) {
            let value = try JSONValue.parse(Array(text.utf8))
            if value.object != nil { return value }
        } catch {
            throw CommandFailure(
                .usage, "flag --device, byte \(error.offset): \(error.text)",
                advice: "give an object, {\"app\":\"6.1.0\"}")
        }
        throw CommandFailure(.usage, "flag --device: expected an object", advice: "give an object, {\"app\":\"6.1.0\"}")
    }

    /// The device; one of which nothing is known where the flag was not given.
    static func device(_ text: String?) throws(CommandFailure) -> Device {
        try object(text).map { Device($0) } ?? Device()
    }
}
