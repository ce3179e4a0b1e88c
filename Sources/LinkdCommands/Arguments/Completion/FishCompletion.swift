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
            lines += command.flags.map { flag($0, isCommand) }
            if let operands = command.operands { lines += self.operands(operands, of: command, model) }
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

    private static func flag(_ flag: CompletionModel.Flag, _ condition: String) -> String {
        var line = condition
        for name in flag.names {
            line += name.hasPrefix("--") ? " -l " + name.dropFirst(2) : " -s " + name.dropFirst()
        }
        if flag.valueName != nil { line += " " + candidates(flag.value) }
        return line + " -d " + ShellQuote.fish(flag.help)
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
        _ operands: CompletionModel.Candidates, of command: CompletionModel.Command, _ model: CompletionModel
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
