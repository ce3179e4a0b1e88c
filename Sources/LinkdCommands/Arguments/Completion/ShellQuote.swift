/// The quoting of a text as one word of a shell.
enum ShellQuote {
    /// Returns the text as one word of a POSIX shell, bash, or zsh.
    static func posix(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }

    /// Returns the text as one word of fish, in whose single quotes a backslash escapes.
    static func fish(_ text: String) -> String {
        "'" + text.replacing(#"\"#, with: #"\\"#).replacing("'", with: #"\'"#) + "'"
    }

    /// Returns the text with a backslash before each of the characters.
    static func escaped(_ text: String, _ characters: Set<Character>) -> String {
        String(text.flatMap { characters.contains($0) ? ["\\", $0] : [$0] })
    }
}
