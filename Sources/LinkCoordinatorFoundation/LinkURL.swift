public import Foundation
public import LinkCoordinator

extension LinkRequest {
    /// Creates a request for a deep link or universal link.
    ///
    /// - Parameter url: The URL that the system handed to the app.
    public init(url: URL) { self = .link(url.absoluteString) }
}

extension RouteTable {
    /// Loads a table from a file, checks its structure, compiles it, and runs its examples.
    ///
    /// - Parameter url: The URL of the file, such as one of the app's bundle.
    /// - Throws: The error of Foundation if the file cannot be read, or ``LinkCoordinator/RouteTableError`` with every
    ///   problem that was found.
    public init(contentsOf url: URL) throws { try self.init(json: try Data(contentsOf: url)) }

    /// Resolves a URL for a device.
    ///
    /// - Parameters:
    ///   - url: The URL that the system handed to the app.
    ///   - device: The facts about the device.
    /// - Returns: The decision.
    public func resolve(_ url: URL, device: DeviceFacts = DeviceFacts()) -> Decision {
        resolve(LinkRequest(url: url), device: device)
    }
}

extension Decision {
    /// The URL to open outside the app, or nil if the outcome is not ``LinkCoordinator/Decision/Outcome/external``.
    public var externalURL: URL? { outcome == .external ? url.flatMap { URL(string: $0) } : nil }
}

/// A field of the type `url` as a property of the type `URL`.
extension URL: ModelFieldValue {
    /// The kind of the field, a text.
    public static var fieldKind: ModelFieldKind { .text }

    /// Creates a URL from the text of a field.
    public init?(fieldText: String) { self.init(string: fieldText) }

    /// The URL, percent-encoded.
    public var fieldText: String { absoluteString }
}
