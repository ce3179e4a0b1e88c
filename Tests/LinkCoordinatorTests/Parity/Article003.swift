import Foundation

/// The parser and the parameters of article 003.
enum Article003 {
    enum Path: Equatable {
        case simple
        case complex(id: String)
    }

    /// `DeeplinkParser.path`.
    static func path(_ url: URL) -> Path? {
        guard let components = URLComponents(url: url, resolvingAgainstBaseURL: false), let host = components.host
        else {
            return nil
        }
        var params: [String: Any] = [:]
        for item in components.queryItems ?? [] { if let value = item.value { params[item.name] = value } }
        switch host {
        case "simple": return .simple
        case "complex": return (params["id"] as? String).map { .complex(id: $0) }
        default: return nil
        }
    }

    /// `DeeplinkParameters.dictionary`.
    static func dictionary(_ url: URL) -> [String: String] {
        let text = url.absoluteString.removingPercentEncoding ?? url.absoluteString
        var dictionary: [String: String] = [:]
        for item in URLComponents(string: text)?.queryItems ?? [] { dictionary[item.name.lowercased()] = item.value }
        return dictionary
    }
}
