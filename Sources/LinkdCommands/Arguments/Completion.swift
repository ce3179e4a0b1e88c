/// `linkd completions`: prints a completion script for a shell.
enum CompletionsCommand {
    static let command = Command(
        path: ["completions"],
        summary: "Print a completion script for a shell",
        discussion: [
            "The script completes commands, flags, and the values that are known: words, files, and directories. It "
                + "does not run linkd. Print it again after an update.",
            "bash: add `source <(linkd completions bash)` to ~/.bashrc. zsh: add `source <(linkd completions zsh)` to "
                + "~/.zshrc, after `compinit`. fish: write the script to ~/.config/fish/completions/linkd.fish.",
        ],
        operands: Operands(
            name: Shell.allCases.map(\.rawValue).joined(separator: "|"), help: "The shell.", count: 1...1),
        examples: [
            "source <(linkd completions bash)": "Completes commands in this bash.",
            "linkd completions fish > ~/.config/fish/completions/linkd.fish": "Completes commands in every new fish.",
        ],
        run: run)

    /// A shell with a completion script.
    enum Shell: String, CaseIterable {
        case bash, zsh, fish

        /// Returns the script for the commands of a model.
        func script(_ model: CompletionModel) -> String {
            switch self {
            case .bash: BashCompletion.script(model)
            case .zsh: ZshCompletion.script(model)
            case .fish: FishCompletion.script(model)
            }
        }
    }

    private static func run(_ call: Invocation) throws(CommandFailure) -> ExitCode {
        guard let shell = Shell(rawValue: call.operands[0]) else {
            throw CommandFailure(
                .usage, "there is no completion script for this shell",
                advice: "use " + Shell.allCases.map { "`linkd completions \($0.rawValue)`" }.joined(separator: " or "))
        }
        call.console.out.write(shell.script(CompletionModel(call.commands)))
        return .success
    }
}

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
    let programFlags = Command.program

    /// The greatest number of words of a command.
    var depth: Int { commands.map(\.path.count).max() ?? 0 }

    /// Creates the model of declared commands.
    init(_ commands: [Command]) {
        self.commands = commands
        var paths: [[String]] = []
        for command in commands {
            for count in command.path.indices where !paths.contains(Array(command.path.prefix(count))) {
                paths.append(Array(command.path.prefix(count)))
            }
        }
        branches = paths.map { Branch(path: $0.joined(separator: " "), words: Self.words(after: $0, commands)) }
    }

    private static func words(after path: [String], _ commands: [Command]) -> [Word] {
        let inside = commands.filter { $0.path.count > path.count && $0.path.starts(with: path) }
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
}

extension Flag {
    /// The first sentence of the help.
    var sentence: String {
        let sentence = help.firstRange(of: ". ").map { String(help[..<$0.lowerBound]) } ?? help
        return sentence.last == "." ? String(sentence.dropLast()) : sentence
    }

    /// The candidates for the value.
    fileprivate var candidates: CompletionModel.Candidates { CompletionModel.Candidates(type) }
}

extension Operands {
    /// The candidates for an operand.
    fileprivate var candidates: CompletionModel.Candidates { CompletionModel.Candidates(operand: name) }
}

/// The completion script for bash, which also runs in bash 3.2.
enum BashCompletion {
    /// Returns the script.
    static func script(_ model: CompletionModel) -> String {
        let parts = [intro, next(model), command(model), main]
        return parts.joined(separator: "\n")
    }

    private static let intro = """
        # Completions of linkd for bash. In ~/.bashrc: source <(linkd completions bash)

        # Offers the arguments that begin with the current word.
        _linkd_words() {
            local candidate
            for candidate in "$@"; do
                case $candidate in "$word"*) COMPREPLY+=("$candidate") ;; esac
            done
        }

        # Offers files (-f) or directories (-d).
        _linkd_paths() {
            local candidate
            compopt -o filenames 2> /dev/null || true
            while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen "$1" -- "$word")
        }

        """

    /// Returns the function that offers the words after the beginning of a command.
    private static func next(_ model: CompletionModel) -> String {
        var lines = [
            "# Offers the words that can follow the beginning of a command.", "_linkd_next() {", "    case $1 in",
        ]
        for branch in model.branches {
            lines.append("    \(ShellQuote.posix(branch.path))) _linkd_words \(list(branch.words.map(\.text))) ;;")
        }
        return (lines + ["    esac", "}", ""]).joined(separator: "\n")
    }

    /// Returns the function that finds the command and describes the current flag.
    private static func command(_ model: CompletionModel) -> String {
        var lines = [
            "# Sets `found`, the command in the words before the current one, and `begun`, the words up to it.",
            "_linkd_find() {", "    local index", "    found= begun=",
            "    for ((index = 1; index < COMP_CWORD && index <= \(model.depth); index++)); do",
            #"        begun="$begun${begun:+ }${COMP_WORDS[index]}""#, "        case $begun in",
            "        \(alternatives(model.commands.map(\.name)))) found=$begun depth=$index ;;", "        esac",
            "    done", "}", "", "# Sets the flags and the kinds of the operands and of the value of the flag $1.",
            "_linkd_describe() {", "    flags=() switch= value= operand=", "    case $found in",
        ]
        lines += [#"    '') flags=(\#(list(model.programFlags.flatMap(\.names)))) ;;"#]
        for command in model.commands {
            lines.append("    \(ShellQuote.posix(command.name)))")
            lines.append("        flags=(\(list(command.allFlags.flatMap(\.names))))")
            if let operands = command.operands { lines.append("        operand=\(kind(operands.candidates))") }
            lines.append("        case $1 in")
            for (flags, isSwitch, value) in grouped(command.allFlags) {
                let variable = isSwitch ? "switch" : "value"
                lines.append("        \(alternatives(flags.flatMap(\.names)))) \(variable)=\(kind(value)) ;;")
            }
            lines += ["        esac", "        ;;"]
        }
        return (lines + ["    esac", "}", ""]).joined(separator: "\n")
    }

    private static let main = """
        # Offers the candidates of a kind: files, directories, commands, text, or words after `:`.
        _linkd_offer() {
            case $1 in
            files) _linkd_paths -f ;;
            directories) _linkd_paths -d ;;
            commands)
                local IFS=' '
                _linkd_next "${COMP_WORDS[*]:depth + 1:COMP_CWORD - depth - 1}"
                ;;
            :*)
                local IFS=' ' words
                read -r -a words <<< "${1#:}"
                _linkd_words "${words[@]}"
                ;;
            esac
        }

        _linkd() {
            local word=${COMP_WORDS[COMP_CWORD]-} before=${COMP_WORDS[COMP_CWORD - 1]-}
            local found begun depth=0 flags switch value operand joined=
            COMPREPLY=()
            # In `--flag=value`, bash makes the sign a word of its own.
            if [ "$word" = = ]; then
                word= joined=yes
            elif [ "$before" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
                before=${COMP_WORDS[COMP_CWORD - 2]} joined=yes
            fi
            _linkd_find
            _linkd_describe "$before"
            if [ -n "$value" ]; then
                _linkd_offer "$value"
            elif [ -n "$joined" ]; then
                _linkd_offer "$switch"
            elif [ -z "$found" ] && [ "${word#-}" = "$word" ]; then
                _linkd_next "$begun"
            elif [ -z "$operand" ] || [ "${word#-}" != "$word" ]; then
                [ "$COMP_CWORD" -gt 1 ] && [ -z "$found" ] && flags=(--help -h)
                _linkd_words "${flags[@]}"
            else
                _linkd_offer "$operand"
            fi
        }

        complete -F _linkd linkd

        """

    private static func list(_ words: [String]) -> String { words.map(ShellQuote.posix).joined(separator: " ") }

    private static func alternatives(_ words: [String]) -> String {
        words.map(ShellQuote.posix).joined(separator: " | ")
    }

    private static func kind(_ candidates: CompletionModel.Candidates) -> String {
        switch candidates {
        case .text: "text"
        case .files: "files"
        case .directories: "directories"
        case .commands: "commands"
        case .words(let words): ShellQuote.posix(":" + words.joined(separator: " "))
        }
    }

    /// Returns flags with the same candidates together, in the order of their first flags.
    private static func grouped(
        _ flags: [Flag]
    ) -> [(flags: [Flag], isSwitch: Bool, value: CompletionModel.Candidates)] {
        var groups: [(flags: [Flag], isSwitch: Bool, value: CompletionModel.Candidates)] = []
        for flag in flags {
            let isSwitch = flag.valueName == nil
            if let index = groups.firstIndex(where: { $0.isSwitch == isSwitch && $0.value == flag.candidates }) {
                groups[index].flags.append(flag)
            } else {
                groups.append(([flag], isSwitch, flag.candidates))
            }
        }
        return groups
    }
}

/// The completion script for zsh: a file that is sourced, or `_linkd` in a directory of `fpath`.
enum ZshCompletion {
    /// Returns the script.
    static func script(_ model: CompletionModel) -> String {
        [intro, next(model), commands(model), main(model)].joined(separator: "\n")
    }

    private static let intro = """
        #compdef linkd
        # Completions of linkd for zsh. In ~/.zshrc, after compinit: source <(linkd completions zsh)

        """

    /// Returns the functions that offer the words after the beginning of a command.
    private static func next(_ model: CompletionModel) -> String {
        var lines = [
            "# Offers the words that can follow the beginning of a command.", "_linkd_next() {",
            "    local -a candidates", "    case $1 in",
        ]
        for branch in model.branches {
            let words = branch.words.map {
                ShellQuote.posix(ShellQuote.escaped($0.text, ["\\", ":"]) + ":" + ShellQuote.escaped($0.help, ["\\"]))
            }
            lines += ["    (\(ShellQuote.posix(branch.path))) candidates=("] + words.map { "        " + $0 }
            lines.append("    ) ;;")
        }
        lines += ["    esac", "    _describe -t commands command candidates", "}", ""]
        lines += [
            "# Offers the words of a command as operands.", "_linkd_operands() {",
            #"    _linkd_next "${(j: :)words[1,CURRENT - 1]}""#, "}", "",
        ]
        return lines.joined(separator: "\n")
    }

    /// Returns the function that completes the flags and the operands of a command.
    private static func commands(_ model: CompletionModel) -> String {
        var lines = ["# Completes the flags and the operands of the command.", "_linkd_command() {", "    case $1 in"]
        for command in model.commands {
            lines.append("    (\(ShellQuote.posix(command.name))) _arguments -S : \\")
            let operands = command.operands.map { operands -> String in
                let isCommands = operands.candidates == .commands
                return (isCommands ? "*::" : "*:") + message(operands.name) + ":" + action(operands.candidates)
            }
            let all = command.allFlags.flatMap(specifications) + (operands.map { [$0] } ?? [])
            lines.append(all.map { "        " + ShellQuote.posix($0) }.joined(separator: " \\\n"))
            lines.append("    ;;")
        }
        return (lines + ["    esac", "}", ""]).joined(separator: "\n")
    }

    private static func main(_ model: CompletionModel) -> String {
        let names = model.commands.map { ShellQuote.posix($0.name) }.joined(separator: "|")
        let help = model.programFlags.filter { $0.names.contains("-h") }
        return """
            _linkd() {
                local found= begun=
                integer index depth=0
                for ((index = 2; index < CURRENT && index <= \(model.depth) + 1; index++)); do
                    begun="$begun${begun:+ }$words[index]"
                    case $begun in
                    (\(names)) found=$begun depth=$((index - 1)) ;;
                    esac
                done
                if [[ -n $found ]]; then
                    words=("$found" "${(@)words[depth + 2,-1]}")
                    ((CURRENT -= depth))
                    _linkd_command "$found"
                elif [[ $PREFIX != -* ]]; then
                    _linkd_next "$begun"
                elif [[ -z $begun ]]; then
                    _arguments : \(specifications(model.programFlags))
                else
                    words=("$begun" "${(@)words[CURRENT,-1]}") CURRENT=2
                    _arguments : \(specifications(help))
                fi
            }

            if [[ ${funcstack[1]-} == _linkd ]]; then
                _linkd "$@"
            else
                compdef _linkd linkd
            fi

            """
    }

    private static func specifications(_ flags: [Flag]) -> String {
        flags.flatMap(specifications).map(ShellQuote.posix).joined(separator: " ")
    }

    /// Returns the specification of each name of a flag, in the syntax of `_arguments`.
    private static func specifications(_ flag: Flag) -> [String] {
        flag.names.map { name in
            let before = flag.repeats ? "*" : "(" + flag.names.joined(separator: " ") + ")"
            let help = "[" + ShellQuote.escaped(flag.sentence, ["\\", "[", "]", ":"]) + "]"
            guard let valueName = flag.valueName else { return before + name + help }
            let sign = name.hasPrefix("--") ? "=" : "+"
            return before + name + sign + help + ":" + message(valueName) + ":" + action(flag.candidates)
        }
    }

    private static func message(_ text: String) -> String { ShellQuote.escaped(text, ["\\", ":"]) }

    private static func action(_ candidates: CompletionModel.Candidates) -> String {
        switch candidates {
        case .text: " "
        case .files: "_files"
        case .directories: "_files -/"
        case .commands: "_linkd_operands"
        case .words(let words):
            "(" + words.map { ShellQuote.escaped($0, Set("\\ ()':\"$`")) }.joined(separator: " ") + ")"
        }
    }
}

/// The completion script for fish.
enum FishCompletion {
    /// Returns the script.
    static func script(_ model: CompletionModel) -> String {
        var lines = [intro(model)]
        for branch in model.branches {
            for word in branch.words { lines.append(self.word(word, at: branch.path)) }
            let flags = branch.path.isEmpty ? model.programFlags : model.programFlags.filter { $0.names.contains("-h") }
            lines += flags.map { flag($0, condition("__linkd_at", branch.path)) }
        }
        for command in model.commands {
            let isCommand = condition("__linkd_is", command.name)
            lines += command.allFlags.map { flag($0, isCommand) }
            if let operands = command.operands { lines += self.operands(operands.candidates, of: command, model) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func intro(_ model: CompletionModel) -> String {
        """
        # Completions of linkd for fish:
        # linkd completions fish > ~/.config/fish/completions/linkd.fish

        # Succeeds if the words before the current one are exactly the arguments.
        function __linkd_at
            set -l words (commandline -opc)
            test "$words[2..-1]" = "$argv"
        end

        # Succeeds if the words before the current one select the command.
        function __linkd_is
            set -l words (commandline -opc)
            set -l found ''
            for count in (seq \(model.depth))
                set -l begun "$words[2..$(math $count + 1)]"
                contains -- "$begun" \(commands(model)); and set found "$begun"
            end
            test "$found" = "$argv"
        end

        complete -c linkd -f
        """
    }

    private static func commands(_ model: CompletionModel) -> String {
        model.commands.map { ShellQuote.fish($0.name) }.joined(separator: " ")
    }

    private static func condition(_ function: String, _ path: String) -> String {
        "complete -c linkd -n " + ShellQuote.fish(path.isEmpty ? function : "\(function) \(path)")
    }

    private static func word(_ word: CompletionModel.Word, at path: String) -> String {
        condition("__linkd_at", path) + " -a \(ShellQuote.fish(word.text)) -d \(ShellQuote.fish(word.help))"
    }

    private static func flag(_ flag: Flag, _ condition: String) -> String {
        var line = condition
        for name in flag.names {
            line += name.hasPrefix("--") ? " -l " + name.dropFirst(2) : " -s " + name.dropFirst()
        }
        if flag.valueName != nil { line += " " + candidates(flag.candidates) }
        return line + " -d " + ShellQuote.fish(flag.sentence)
    }

    private static func candidates(_ value: CompletionModel.Candidates) -> String {
        switch value {
        case .text, .commands: "-x"
        case .files: "-r -F"
        case .directories: "-x -a '(__fish_complete_directories)'"
        case .words(let words): "-x -a " + list(words)
        }
    }

    /// Returns a list of words as one word, which fish evaluates once more.
    private static func list(_ words: [String]) -> String {
        ShellQuote.fish(words.map(ShellQuote.fish).joined(separator: " "))
    }

    private static func operands(
        _ operands: CompletionModel.Candidates, of command: Command, _ model: CompletionModel
    ) -> [String] {
        let isCommand = condition("__linkd_is", command.name)
        switch operands {
        case .text: return []
        case .files: return [isCommand + " -F"]
        case .directories: return [isCommand + " -a '(__fish_complete_directories)'"]
        case .words(let words): return [isCommand + " -a " + list(words)]
        case .commands:
            return model.branches.flatMap { branch in
                branch.words.map { word($0, at: branch.path.isEmpty ? command.name : command.name + " " + branch.path) }
            }
        }
    }
}

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
