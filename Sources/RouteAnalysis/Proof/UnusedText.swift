/// Texts for names and values that no part of a table uses.
enum UnusedText {
    /// Returns the first text that is free: the base itself, or the base with a number, from 1.
    ///
    /// Only finitely many texts can be in use.
    static func first(_ base: String, suffix: String = "", where isFree: (String) -> Bool) -> String {
        var text = base + suffix
        var number = 0
        while !isFree(text) {
            number += 1
            text = "\(base)\(number)\(suffix)"
        }
        return text
    }
}
