/// The flow coordinator of article 004: the view for a navigation event, its data, and its identity.
enum ContentLink: Equatable, Sendable {
    case firstLink
    case firstLinkParametrized(text: String)
    case secondLink
    case secondLinkParametrized(number: Int)
    case thirdLink
    case sheetLink(item: String)

    /// The content of the screen.
    enum Shown: Equatable, Sendable {
        case firstView(text: String?)
        case secondView(number: Int?)
        case sheetView(text: String)
        case emptyView
    }

    /// The view for this active link, and a Boolean value that indicates whether it is a sheet.
    var shown: (view: Shown, isSheet: Bool) {
        if case .sheetLink(let item) = self { return (.sheetView(text: item), true) }
        switch navigationLink {
        case .firstLink: return (firstDestination, false)
        // Both tags lead to the second destination, which is a mistake in the article.
        case .secondLink, .thirdLink: return (secondDestination, false)
        default: return (.emptyView, false)
        }
    }

    private var navigationLink: ContentLink {
        switch self {
        case .firstLinkParametrized: .firstLink
        case .secondLinkParametrized: .secondLink
        default: self
        }
    }

    private var firstDestination: Shown {
        if case .firstLinkParametrized(let text) = self { return .firstView(text: text) }
        return .firstView(text: nil)
    }

    private var secondDestination: Shown {
        if case .secondLinkParametrized(let number) = self { return .secondView(number: number) }
        return .secondView(number: nil)
    }

    var id: String {
        switch self {
        case .firstLink, .firstLinkParametrized: "first"
        case .secondLink, .secondLinkParametrized: "second"
        case .thirdLink: "third"
        case .sheetLink(let item): item
        }
    }
}
