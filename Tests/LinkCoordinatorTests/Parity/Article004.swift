/// The flow coordinator of article 004: which view a navigation event shows, with what, and under which identity.
enum ContentLink: Equatable, Sendable {
    case firstLink
    case firstLinkParametrized(text: String)
    case secondLink
    case secondLinkParametrized(number: Int)
    case thirdLink
    case sheetLink(item: String)

    /// What is on the screen then.
    enum Shown: Equatable, Sendable {
        case firstView(text: String?)
        case secondView(number: Int?)
        case sheetView(text: String)
        case emptyView
    }

    /// What is shown for this as the state's active link, and whether as a sheet.
    var shown: (view: Shown, isSheet: Bool) {
        if case .sheetLink(let item) = self { return (.sheetView(text: item), true) }
        switch navigationLink {
        case .firstLink: return (firstDestination, false)
        // Both tags name the second destination: the article's slip.
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
