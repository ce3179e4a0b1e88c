import Foundation

/// The coordinator of article 001 that a string controls, without views.
struct Article001 {
    private static let screens = ["auth": ["a", "b", "c"], "profile": ["a", "b", "c"]]

    /// The shown screens.
    private(set) var path: [ParityScreen]
    private var currentSegment: String?

    init(path: [ParityScreen]) { self.path = path }

    /// `setPath(_:)`.
    mutating func setPath(_ path: String) {
        currentSegment = nil
        for step in path.components(separatedBy: "/") { handleStep(step) }
    }

    private mutating func handleStep(_ step: String) {
        if step.isEmpty {
            path = []
        } else if Self.screens[step] != nil {
            currentSegment = step
        } else if let segment = currentSegment, Self.screens[segment]?.contains(step) == true {
            path.append(ParityScreen(segment, step))
        }
    }

    /// `buildPath()`.
    func buildPath() -> String {
        var full = ""
        var segment = ""
        for step in path {
            if segment != step.coordinator {
                segment = step.coordinator
                full += "/\(segment)"
            }
            full += "/\(step.screen)"
        }
        return full
    }
}
