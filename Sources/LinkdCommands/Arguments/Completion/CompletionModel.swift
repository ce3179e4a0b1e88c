/// The words that a command line can have next, from which the completion scripts are written.
struct CompletionModel: Sendable {
    /// The candidates for a value or an operand.
    enum Candidates: Sendable, Hashable {
        /// No candidates, because only the user knows the text.
        case text
        /// One of several words.
        case words([String])
        /// The paths of files.
        case files
        /// The paths of directories.
        case directories
        /// The words of a command.
        case commands

        /// The candidates for a value of a type.
        init(_ type: ValueType) {
            self =
                switch type {
                case .choice(let choices): .words(choices)
                case .boolean: .words(["true", "false"])
                case .file, .files: .files
                case .directory: .directories
                default: .text
                }
        }

        /// The candidates for an operand.
        ///
        /// The name decides, because operands have no type: a list of words, such as `bash|zsh|fish`, or the name of a
        /// file.
        init(operand name: String) {
            let first = name.prefix { $0 != " " }
            if name.contains("|") {
                self = .words(name.split(separator: "|").map(String.init))
            } else if first == "COMMAND" {
                self = .commands
            } else {
                self = ["FILE", "TABLE", "OLD"].contains(first) ? .files : .text
            }
        }
    }

    /// A flag.
    struct Flag: Sendable {
        /// The names of the flag, with their dashes.
        let names: [String]
        /// The first sentence of the help.
        let help: String
        /// The placeholder for the value, or nil if the flag needs no value.
        let valueName: String?
        /// The candidates for the value.
        let value: Candidates
        /// A Boolean value that indicates whether the flag can be repeated.
        let repeats: Bool

        /// Creates the completion of a declared flag.
        init(_ flag: FlagDeclaration) {
            names = flag.names
            help = CompletionModel.firstSentence(flag.help)
            valueName = flag.valueName
            value = Candidates(flag.type)
            repeats = flag.repeats
        }
    }

    /// A command with its flags and operands.
    struct Command: Sendable {
        /// The words that select the command, joined by spaces.
        let name: String
        /// The number of these words.
        let depth: Int
        /// The flags, in the order of the help text.
        let flags: [Flag]
        /// The name of the operands, or nil if the command accepts none.
        let operandName: String?
        /// The candidates for the operands, or nil if the command accepts none.
        let operands: Candidates?
    }

    /// A word of a command, with a description.
    struct Word: Sendable, Equatable {
        /// The word.
        let text: String
        /// The summary of the command, or the words that follow.
        let help: String
    }

    /// The words that can follow the beginning of a command.
    struct Branch: Sendable {
        /// The beginning: words joined by spaces, or an empty text.
        let path: String
        /// The words that can follow.
        let words: [Word]
    }

    /// All commands.
    let commands: [Command]
    /// The beginnings of commands, the empty one first.
    let branches: [Branch]
    /// The flags of the program without a command.
    let programFlags: [Flag]

    /// The greatest number of words of a command.
    var depth: Int { commands.map(\.depth).max() ?? 0 }

    /// Creates the model of declared commands.
    init(_ declarations: [CommandDeclaration]) {
        commands = declarations.map { declaration in
            Command(
                name: declaration.name, depth: declaration.path.count, flags: declaration.allFlags.map(Flag.init),
                operandName: declaration.operands?.name,
                operands: declaration.operands.map { Candidates(operand: $0.name) })
        }
        var paths: [[String]] = []
        for declaration in declarations {
            for count in declaration.path.indices where !paths.contains(Array(declaration.path.prefix(count))) {
                paths.append(Array(declaration.path.prefix(count)))
            }
        }
        branches = paths.map { Branch(path: $0.joined(separator: " "), words: Self.words(after: $0, declarations)) }
        programFlags = CommandDeclaration.program.map(Flag.init)
    }

    private static func words(after path: [String], _ declarations: [CommandDeclaration]) -> [Word] {
        let inside = declarations.filter { $0.path.count > path.count && $0.path.starts(with: path) }
        var words: [Word] = []
        for declaration in inside where !words.contains(where: { $0.text == declaration.path[path.count] }) {
            let word = declaration.path[path.count]
            let command = inside.first { $0.path == path + [word] }
            let following = inside.filter { $0.path.count > path.count + 1 && $0.path[path.count] == word }
            let list = following.map { $0.path[path.count + 1] }.joined(separator: ", ")
            words.append(Word(text: word, help: command?.summary ?? "Commands: " + list))
        }
        return words
    }

    private static func firstSentence(_ text: String) -> String {
        let sentence = text.firstRange(of: ". ").map { String(text[..<$0.lowerBound]) } ?? text
        return sentence.last == "." ? String(sentence.dropLast()) : sentence
    }
}
