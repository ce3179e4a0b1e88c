// Stand-ins for the parts of SwiftUI that the guide's views use, with the same declarations, so that the views compile
// where SwiftUI does not exist. A test reads what the views show and dismisses a presentation as a user does.

import Foundation

@MainActor protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

/// A view without a body, which describes itself.
@MainActor protocol ShownView {
    var shown: String { get }
    /// The presentations of the view.
    var presented: (any Presenting)? { get }
}

extension ShownView {
    var presented: (any Presenting)? { nil }
}

/// A presentation on top of a view.
@MainActor protocol Presenting {
    var shown: String { get }
    /// The presentation on top of this one.
    var next: (any Presenting)? { get }
    func dismiss()
}

extension Never: View {
    var body: Never { self }
}

/// A view that has no body.
@MainActor protocol Primitive: View, ShownView where Body == Never {}

extension Primitive {
    var body: Never {
        // Only `ViewReader` reads bodies, and never that of a primitive view, as in SwiftUI.
        fatalError("\(Self.self) has no body")
    }
}

@resultBuilder enum ViewBuilder {
    static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    static func buildEither<First: View, Second: View>(first: First) -> EitherView<First, Second> { .first(first) }
    static func buildEither<First: View, Second: View>(second: Second) -> EitherView<First, Second> { .second(second) }
}

enum EitherView<First: View, Second: View>: Primitive {
    case first(First)
    case second(Second)

    var shown: String {
        switch self {
        case .first(let view): ViewReader.shown(view)
        case .second(let view): ViewReader.shown(view)
        }
    }
}

struct Text: Primitive {
    let shown: String
    init(_ text: String) { shown = text }
}

struct Button: Primitive {
    let shown: String
    let action: () -> Void
    init(_ title: String, action: @escaping () -> Void) {
        shown = title
        self.action = action
    }
}

@MainActor struct Binding<Value> {
    private let get: () -> Value
    private let set: (Value) -> Void

    init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {
        self.get = get
        self.set = set
    }

    var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }
}

struct NavigationStack<Element: Hashable, Root: View>: Primitive {
    let path: Binding<[Element]>
    let root: Root

    init(path: Binding<[Element]>, @ViewBuilder root: () -> Root) {
        self.path = path
        self.root = root()
    }

    var shown: String {
        let destinations = (root as? any HasDestinations)
        let pushed = path.wrappedValue.map { destinations?.destination(of: $0) ?? "?" }
        return ([ViewReader.shown(root)] + pushed).joined(separator: " ")
    }

    /// Goes back as the user does, with `count` pushed entries left.
    func goBack(to count: Int) { path.wrappedValue = Array(path.wrappedValue.prefix(count)) }
}

/// A view that shows the elements of a path.
@MainActor protocol HasDestinations {
    func destination(of element: any Hashable) -> String?
}

struct DestinationView<Content: View, Element: Hashable, Destination: View>: Primitive, HasDestinations {
    let content: Content
    let make: (Element) -> Destination
    var shown: String { ViewReader.shown(content) }
    func destination(of element: any Hashable) -> String? {
        (element as? Element).map { ViewReader.shown(make($0)) }
    }
}

/// A view with an item that it presents.
struct PresentingView<Content: View, Item, Presented: View>: Primitive, Presenting {
    let content: Content
    let kind: String
    let item: () -> Item?
    let close: () -> Void
    let make: (Item) -> Presented

    var shown: String { ViewReader.shown(content) + (item().map { " | \(kind): " + ViewReader.shown(make($0)) } ?? "") }
    var presented: (any Presenting)? { item() == nil ? ViewReader.presented(content) : self }
    var next: (any Presenting)? { item().flatMap { ViewReader.presented(make($0)) } }
    func dismiss() { close() }
}

extension View {
    func navigationDestination<Element: Hashable, Destination: View>(
        for type: Element.Type, @ViewBuilder destination: @escaping (Element) -> Destination
    ) -> some View {
        DestinationView(content: self, make: destination)
    }

    func sheet<Item: Identifiable, Content: View>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View {
        PresentingView(
            content: self, kind: "sheet", item: { item.wrappedValue }, close: { item.wrappedValue = nil }, make: content
        )
    }

    func fullScreenCover<Item: Identifiable, Content: View>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View {
        PresentingView(
            content: self, kind: "cover", item: { item.wrappedValue }, close: { item.wrappedValue = nil }, make: content
        )
    }

    func alert<Item, Actions: View, Message: View>(
        _ title: String, isPresented: Binding<Bool>, presenting data: Item?,
        @ViewBuilder actions: @escaping (Item) -> Actions, @ViewBuilder message: @escaping (Item) -> Message
    ) -> some View {
        PresentingView(
            content: self, kind: "alert", item: { isPresented.wrappedValue ? data : nil },
            close: { isPresented.wrappedValue = false }, make: message)
    }

    func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { OpeningView(content: self, action: action) }
}

/// A view that opens URLs.
struct OpeningView<Content: View>: Primitive {
    let content: Content
    let action: (URL) -> Void
    var shown: String { ViewReader.shown(content) }
    var presented: (any Presenting)? { ViewReader.presented(content) }
}

/// Reads what views show.
@MainActor enum ViewReader {
    static func shown(_ view: some View) -> String {
        if let view = view as? any ShownView { return view.shown }
        return shown(view.body)
    }

    static func presented(_ view: some View) -> (any Presenting)? {
        if let view = view as? any ShownView { return view.presented }
        return presented(view.body)
    }

    /// Dismisses what is on top, as a user does.
    static func dismissTop(of view: some View) {
        var top = presented(view)
        while let next = top?.next { top = next }
        top?.dismiss()
    }
}
