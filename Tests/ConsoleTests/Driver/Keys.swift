/// The keys of the WebDriver protocol that have no character.
enum Key: String {
    case tab = "\u{E004}"
    case enter = "\u{E007}"
    case shift = "\u{E008}"
    case control = "\u{E009}"
    case escape = "\u{E00C}"
    case space = "\u{E00D}"
    case end = "\u{E010}"
    case home = "\u{E011}"
    case left = "\u{E012}"
    case up = "\u{E013}"
    case right = "\u{E014}"
    case down = "\u{E015}"
    case delete = "\u{E017}"
}

extension Tab {
    /// Presses a key in the focused element, with other keys held down.
    func press(_ key: Key, holding held: [Key] = [], times: Int = 1) throws {
        try press(key.rawValue, holding: held, times: times)
    }

    /// Presses the key of a character in the focused element, with other keys held down.
    func press(_ character: String, holding held: [Key] = [], times: Int = 1) throws {
        func action(_ type: String, _ value: String) -> JSON { ["type": .text(type), "value": .text(value)] }
        var actions = held.map { action("keyDown", $0.rawValue) }
        for _ in 0..<times { actions += [action("keyDown", character), action("keyUp", character)] }
        actions += held.reversed().map { action("keyUp", $0.rawValue) }
        try perform("/actions", ["actions": [["type": "key", "id": "keyboard", "actions": .array(actions)]]])
    }
}
