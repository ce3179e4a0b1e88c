/// The screens of a table as an enumeration of the app.
///
/// `linkd routes export --format swift` generates such an enumeration. It has a case for each screen, whose values are
/// the models that the screen needs, so that an app can switch over all screens:
///
/// ```swift
/// switch try ShopScreen(entry) {
/// case .catalogList: CatalogView()
/// case .catalogItem(let product): ProductView(product)
/// }
/// ```
public protocol LinkScreen: Sendable, Hashable {
    /// Creates the screen of an entry of a stack.
    ///
    /// - Parameter entry: The entry.
    /// - Throws: A ``DestinationError`` if the app does not have the screen, or if a model cannot be decoded.
    init(_ entry: StackEntry) throws(DestinationError)
}

extension StackEntry {
    /// Decodes a model that the screen of the entry needs.
    ///
    /// - Parameter type: The type of the model.
    /// - Returns: The decoded model.
    /// - Throws: A ``DestinationError`` that names the screen, the model, and the field.
    public func payload<Model: LinkModel>(_ type: Model.Type) throws(DestinationError) -> Model {
        do throws(ModelError) {
            return try model(type)
        } catch {
            throw .model(error, coordinator: coordinator, screen: screen)
        }
    }
}

/// An error that occurs when an app cannot show a decision.
///
/// The usual cause is a decision of a server whose table is newer than the app.
public enum DestinationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The app does not have the screen.
    case unknownScreen(coordinator: String, screen: String)
    /// A model of the screen is missing, or does not have the fields that the app expects.
    case model(ModelError, coordinator: String, screen: String)
    /// The decision has no URL to open, although its outcome is ``Decision/Outcome/external``.
    case noURL

    /// The error as a sentence.
    ///
    /// The sentence contains no values.
    public var description: String {
        switch self {
        case .unknownScreen(let coordinator, let screen):
            "the app has no screen \(coordinator)/\(screen): the table may be newer than the app"
        case .model(let error, let coordinator, let screen): "screen \(coordinator)/\(screen): \(error)"
        case .noURL: "the decision has no URL to open"
        }
    }
}
