/// The declaration of a flag.
///
/// The parser, the help texts, and the suggestions for misspelled flags use it.
struct Flag: Sendable {
    /// The names of the flag.
    ///
    /// Help texts and errors show the first one.
    let names: [String]
    /// The type of the value.
    ///
    /// A flag of type `.boolean` needs no value.
    let type: ValueType
    /// The default as shown in the help text, or nil for none.
    let defaultText: String?
    /// A Boolean value that indicates whether the flag can be repeated.
    let repeats: Bool
    /// The placeholder for the value in the help text, or nil for the one of the type.
    let placeholder: String?
    /// A sentence that describes the effect of the flag.
    let help: String
    /// The advice after a value that is not valid, or nil for the one of the type.
    var advice: String?

    /// Creates a flag with a value.
    init(
        _ name: String, or other: String? = nil, _ type: ValueType, default defaultText: String? = nil,
        repeats: Bool = false, placeholder: String? = nil, _ help: String, advice: String? = nil
    ) {
        names = [name] + [other].compactMap(\.self)
        self.type = type
        self.defaultText = defaultText
        self.repeats = repeats
        self.placeholder = placeholder
        self.help = help
        self.advice = advice
    }

    /// Creates a flag without a value.
    init(_ name: String, or other: String? = nil, _ help: String) { self.init(name, or: other, .boolean, help) }

    /// Creates the flag of a setting.
    init(setting row: SettingRow) {
        names = row.flags
        type = row.type
        defaultText = row.defaultText
        repeats = row.type.isList
        placeholder = nil
        help = row.help
    }

    /// A Boolean value that indicates whether the flag needs no value.
    var isSwitch: Bool {
        if case .boolean = type { return true }
        return false
    }

    /// The placeholder for the value in the help text, or nil if the flag needs no value.
    var valueName: String? { isSwitch ? nil : placeholder ?? type.placeholder }

    /// The effect, the repetition, and the default, as shown in the help text.
    var description: String {
        let isSplit = SettingsTable.rows.contains { $0.flags == names }
        let repetition = isSplit ? " Repeat the flag, or separate values with commas." : " Can be repeated."
        return help + (repeats ? repetition : "") + (defaultText.map { " (default: \($0))" } ?? "")
    }
}

/// The declaration of the operands, which follow the flags.
struct Operands: Sendable {
    /// The name in the usage line, for example `FILE`.
    let name: String
    /// A sentence that describes the operands.
    let help: String
    /// The allowed number of operands.
    let count: ClosedRange<Int>
}
