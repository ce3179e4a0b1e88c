/// An element of a page.
struct Element {
    let tab: Tab
    let id: String

    private func get<Value: Decodable>(_ path: String) throws -> Value { try tab.call("GET", "/element/\(id)\(path)") }

    /// The text as it is displayed.
    var text: String {
        get throws { try get("/text") }
    }

    /// The computed role.
    var role: String {
        get throws { try get("/computedrole") }
    }

    /// The computed name, as assistive technology speaks it.
    var label: String {
        get throws { try get("/computedlabel") }
    }

    /// A Boolean value that indicates whether a user sees the element.
    var isDisplayed: Bool {
        get throws { try get("/displayed") }
    }

    /// A Boolean value that indicates whether the element is selected or checked.
    var isSelected: Bool {
        get throws { try get("/selected") }
    }

    /// Returns the value of an attribute, or nil.
    func attribute(_ name: String) throws -> String? {
        let value: JSON = try get("/attribute/\(name)")
        return value.text
    }

    /// Returns the value of a property.
    func property(_ name: String) throws -> JSON { try get("/property/\(name)") }

    /// Scrolls to the element and clicks its center.
    func click() throws { try tab.perform("/element/\(id)/click") }

    /// Removes the text of an input.
    func clear() throws { try tab.perform("/element/\(id)/clear") }

    /// Types text into the element.
    func type(_ text: String) throws { try tab.perform("/element/\(id)/value", ["text": .text(text)]) }

    /// Moves the pointer over the element.
    func hover() throws {
        let move: JSON = [
            "type": "pointerMove", "duration": 0, "x": 0, "y": 0,
            "origin": ["element-6066-11e4-a52e-4f735466cecf": .text(id)],
        ]
        try tab.perform(
            "/actions",
            [
                "actions": [
                    ["type": "pointer", "id": "mouse", "parameters": ["pointerType": "mouse"], "actions": [move]]
                ]
            ])
    }
}
