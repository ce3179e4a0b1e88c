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
            lines.append("        flags=(\(list(command.flags.flatMap(\.names))))")
            if let operands = command.operands { lines.append("        operand=\(kind(operands))") }
            lines.append("        case $1 in")
            for (flags, isSwitch, value) in grouped(command.flags) {
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
        _ flags: [CompletionModel.Flag]
    ) -> [(flags: [CompletionModel.Flag], isSwitch: Bool, value: CompletionModel.Candidates)] {
        var groups: [(flags: [CompletionModel.Flag], isSwitch: Bool, value: CompletionModel.Candidates)] = []
        for flag in flags {
            let isSwitch = flag.valueName == nil
            if let index = groups.firstIndex(where: { $0.isSwitch == isSwitch && $0.value == flag.value }) {
                groups[index].flags.append(flag)
            } else {
                groups.append(([flag], isSwitch, flag.value))
            }
        }
        return groups
    }
}
