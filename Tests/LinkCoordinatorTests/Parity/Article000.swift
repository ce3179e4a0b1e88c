import Foundation

/// The deep link service and the split coordinator of article 000, without views.
///
/// They show the result of a link in an app that was just started.
struct Article000 {
    /// The value that the service stored.
    enum Stored: Equatable {
        case product(id: UUID, count: Int)
        case dictionary(id: String, count: String)
    }

    enum Answer: Equatable {
        /// The service returned before it called the coordinator.
        case nothing
        /// The coordinator's path was replaced.
        case path([ParityScreen], Stored?)
    }

    private static let screens = [
        "auth": ["a", "b", "c"], "profile": ["a", "b", "c"], "products": ["product", "merch"],
    ]

    private var path: [ParityScreen] = []
    private var collector: [ParityScreen] = []
    private var currentSegment: String?
    private var stored: Stored?

    /// `DeepLinkService.handle(url:)`.
    static func handle(_ url: URL) -> Answer {
        var app = Article000()
        guard let components = NSURLComponents(url: url, resolvingAgainstBaseURL: true) else {
            app.setPath(url.path())
            return .path(app.path, nil)
        }
        switch url.host() ?? "" {
        case "": return .path([], nil)
        case "product":
            guard let (id, count) = pair(components), let uuid = UUID(uuidString: id), let number = Int(count) else {
                return .nothing
            }
            app.stored = .product(id: uuid, count: number)
            app.setPath("/products/\(url.host() ?? "")")
        default:
            guard let (id, count) = pair(components) else { return .nothing }
            app.stored = .dictionary(id: id, count: count)
            app.setPath("/\(url.host() ?? "")\(url.path())")
        }
        return .path(app.path, app.stored)
    }

    private static func pair(_ components: NSURLComponents) -> (String, String)? {
        let query = components.queryItems ?? []
        guard let id = query.first(where: { $0.name == "id" })?.value,
            let count = query.first(where: { $0.name == "count" })?.value
        else { return nil }
        return (id, count)
    }

    private mutating func setPath(_ path: String) {
        currentSegment = nil
        collector = []
        for step in path.components(separatedBy: "/") { handleStep(step) }
        self.path = collector
        collector = []
    }

    private mutating func handleStep(_ step: String) {
        if step.isEmpty {
            path = []
        } else if Self.screens[step] != nil {
            currentSegment = step
        } else if let segment = currentSegment, Self.screens[segment]?.contains(step) == true {
            collector.append(ParityScreen(segment, step))
        }
    }
}
