import Foundation
import LinkCoordinator

// The views of the guide `NavigationStack`. With `import SwiftUI` in place of `SwiftUIStandIns.swift`, they are views
// of an app.

struct AppView: View {
    let app: AppModel

    var body: some View {
        GroupView(router: app.router, index: 0)
            .onOpenURL { url in
                Task { await app.open(.link(url.absoluteString)) }
            }
    }
}

/// A group of the shown stack, with the group that is presented on top of it.
struct GroupView: View {
    let router: Router
    let index: Int

    var body: some View {
        NavigationStack(path: path) {
            root.navigationDestination(for: StackEntry.self) { ScreenView(entry: $0) }
        }
        .sheet(item: next(.sheet)) { GroupView(router: router, index: $0.id) }
        .fullScreenCover(item: next(.cover)) { GroupView(router: router, index: $0.id) }
        .alert("Notice", isPresented: isAlerting, presenting: next(.alert).wrappedValue?.root) { _ in
            Button("OK") {}
        } message: { entry in
            ScreenView(entry: entry)
        }
    }

    @ViewBuilder private var root: some View {
        if let entry = router.group(index)?.root {
            ScreenView(entry: entry)
        } else {
            Text("Home")
        }
    }

    /// The entries that are pushed onto the root, which SwiftUI shortens when the user goes back.
    private var path: Binding<[StackEntry]> {
        Binding {
            router.group(index)?.path ?? []
        } set: { path in
            if let group = router.group(index) { router.userLeft(group.end - group.path.count + path.count) }
        }
    }

    /// The next group if it is presented this way, which SwiftUI sets to nil when the user dismisses it.
    private func next(_ present: Presentation) -> Binding<Router.Group?> {
        Binding {
            router.group(index + 1).flatMap { $0.root?.present == present ? $0 : nil }
        } set: { next in
            if next == nil, let group = router.group(index) { router.userLeft(group.end) }
        }
    }

    private var isAlerting: Binding<Bool> {
        let alert = next(.alert)
        return Binding {
            alert.wrappedValue != nil
        } set: { isAlerting in
            if !isAlerting { alert.wrappedValue = nil }
        }
    }
}

struct ScreenView: View {
    let entry: StackEntry

    var body: some View {
        Text(entry.screen)
    }
}
