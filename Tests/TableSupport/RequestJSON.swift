package import LinkCoordinator

extension LinkRequest.Object {
    /// Returns the object of a JSON text that a test contains.
    package static func json(_ text: String) -> LinkRequest.Object {
        do {
            return try LinkRequest.Object(json: text.utf8)
        } catch {
            // Only the source of a test can be wrong here.
            preconditionFailure("\(error): \(text)")
        }
    }
}
