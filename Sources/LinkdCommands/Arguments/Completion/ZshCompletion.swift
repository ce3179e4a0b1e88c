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
                let isCommands = operands == .commands
                return (isCommands ? "*::" : "*:") + message(command.operandName ?? "") + ":" + action(operands)
            }
            let all = command.flags.flatMap(specifications) + (operands.map { [$0] } ?? [])
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

    private static func specifications(_ flags: [CompletionModel.Flag]) -> String {
        flags.flatMap(specifications).map(ShellQuote.posix).joined(separator: " ")
    }

    /// Returns the specification of each name of a flag, in the syntax of `_arguments`.
    private static func specifications(_ flag: CompletionModel.Flag) -> [String] {
        flag.names.map { name in
            let before = flag.repeats ? "*" : "(" + flag.names.joined(separator: " ") + ")"
            let help = "[" + ShellQuote.escaped(flag.help, ["\\", "[", "]", ":"]) + "]"
            guard let valueName = flag.valueName else { return before + name + help }
            let sign = name.hasPrefix("--") ? "=" : "+"
            return before + name + sign + help + ":" + message(valueName) + ":" + action(flag.value)
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
