import Foundation

/// The deep linker of article 002.
enum Article002 {
    enum Deeplink: Equatable {
        case home
        case details(reference: String)
    }

    /// `manage(url:)`.
    static func manage(_ url: URL) -> Deeplink? {
        guard url.scheme == "tcal" else { return nil }
        guard url.pathComponents.contains("details") else { return .home }
        guard let query = url.query else { return nil }
        let components = query.split(separator: ",").flatMap { $0.split(separator: "=") }
        guard let index = components.firstIndex(of: "reference"), index + 1 < components.count else { return nil }
        return .details(reference: String(components[index + 1]))
    }
}
