/// A node of the tree that the browser gives to assistive technology.
struct AccessibilityNode: Decodable, Sendable {
    private struct Text: Decodable, Sendable {
        var value: JSON?
    }

    private struct Property: Decodable, Sendable {
        var name: String
        var value: Text
    }

    private var ignored: Bool
    private var properties: [Property]?
    private enum CodingKeys: String, CodingKey {
        case ignored, properties
        case roleText = "role"
        case nameText = "name"
    }
    private var roleText: Text?
    private var nameText: Text?

    /// A Boolean value that indicates whether assistive technology sees the node.
    var isSeen: Bool { !ignored }

    /// The role, such as `button`.
    var role: String { roleText?.value?.text ?? "" }

    /// The name that assistive technology speaks.
    var name: String { (nameText?.value?.text ?? "").filter { !$0.isWhitespace || $0 == " " } }

    /// A Boolean value that indicates whether the node can have the focus.
    var isFocusable: Bool { property("focusable")?.bool ?? false }

    /// The level of a heading, or nil.
    var level: Int? { property("level")?.number.map { Int($0) } }

    private func property(_ name: String) -> JSON? { properties?.first { $0.name == name }?.value.value }
}

extension Tab {
    /// The nodes of the tree that the browser gives to assistive technology, in the order of the document.
    func accessibilityNodes() throws -> [AccessibilityNode] {
        struct Tree: Decodable { var nodes: [AccessibilityNode] }
        let tree: Tree = try call(
            "POST", "/goog/cdp/execute", ["cmd": "Accessibility.getFullAXTree", "params": [:]])
        return tree.nodes.filter(\.isSeen)
    }
}
