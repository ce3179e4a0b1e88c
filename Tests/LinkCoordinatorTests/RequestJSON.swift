import LinkCoordinator
import Testing

extension LinkRequest.Object {
    /// Returns the object of a JSON text, or records an issue and returns an empty one.
    static func json(_ text: String) -> LinkRequest.Object {
        do {
            return try LinkRequest.Object(json: text.utf8)
        } catch {
            Issue.record("\(error)")
            return [:]
        }
    }
}
