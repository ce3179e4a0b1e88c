internal import Foundation
internal import TestSupport

@testable internal import LinkdCommands

/// A shell that loads a completion script and completes command lines.
struct CompletingShell {
    /// The shell.
    let shell: CompletionsCommand.Shell
    /// The completion script.
    let script: String

    /// Creates a shell with the script of a model.
    init(_ shell: CompletionsCommand.Shell, _ model: CompletionModel) {
        self.shell = shell
        script = shell.script(model)
    }

    /// Returns the candidates at the end of each line, and the descriptions that the shell shows with them.
    ///
    /// The shell runs in a directory with the file `a table.json` and the directory `a folder`.
    func candidates(_ lines: [String]) throws -> [String: [String]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "completion-\(UUID().uuidString)")
        let files = folder.appending(path: "files")
        try FileManager.default.createDirectory(
            at: files.appending(path: "a folder"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data().write(to: files.appending(path: "a table.json"))
        let text = lines.map { $0 + "\n" }.joined()
        for (name, content) in [("script", script), ("driver", driver), ("widget", Self.widget), ("lines", text)] {
            try Data(content.utf8).write(to: folder.appending(path: name))
        }
        let path = { (name: String) in folder.appending(path: name).path }
        let command = options + [path("driver"), path("script"), path("lines"), path("result"), path("widget")]
        let result = try ChildProcess.run(
            command, in: files, environment: ["HOME": folder.path, "LC_ALL": "C.UTF-8"], input: text)
        guard result.status == 0, result.errors.isEmpty else {
            throw ChildProcess.Failure(text: "\(shell) ended with \(result.status): \(result.errors)")
        }
        let output =
            shell == .zsh ? try String(contentsOf: folder.appending(path: "result"), encoding: .utf8) : result.output
        return Self.sections(output)
    }

    /// The shell, without files of the user.
    private var options: [String] {
        switch shell {
        case .bash: ["bash", "--norc"]
        case .zsh: ["zsh", "-f"]
        case .fish: ["fish", "--no-config"]
        }
    }

    private static func sections(_ output: String) -> [String: [String]] {
        var found: [String: [String]] = [:]
        var line = ""
        for text in output.split(separator: "\n").map(String.init) {
            if text.hasPrefix("== ") {
                line = String(text.dropFirst(3))
                found[line] = []
            } else {
                found[line, default: []].append(text)
            }
        }
        return found
    }

    /// A program that prints each line of its input and the candidates at its end.
    private var driver: String {
        switch shell {
        case .bash: Self.bash
        case .zsh: Self.zsh
        case .fish: Self.fish
        }
    }

    private static let bash = """
        set -eu
        source "$1"
        complete -p linkd > /dev/null
        while IFS= read -r line; do
            echo "== $line"
            # As on a command line, `=` is a word of its own.
            parts=${line//=/ = } cursor=
            case $line in *=) parts=${parts% } ;; *' ') cursor=yes ;; esac
            IFS=' ' read -r -a COMP_WORDS <<< "$parts"
            [ -z "$cursor" ] || COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _linkd
            [ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
        done
        """

    private static let fish = """
        source $argv[1]
        while read -l line
            echo "== $line"
            complete -C $line
        end
        """

    /// Completion needs a terminal, which `zpty` simulates.
    private static let zsh = """
        zmodload zsh/zpty
        zpty session "SCRIPT=${(q)1} INPUT=${(q)2} RESULT=${(q)3} TERM=dumb zsh -f -i"
        zpty -w session "source ${(q)4}"
        while zpty -r session part; do :; done
        """

    /// The commands of the zsh with a terminal: they complete each line when the first prompt appears.
    private static let widget = """
        autoload -U compinit
        compinit -D -u
        source $SCRIPT
        compadd() {
            local -a matches
            if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\\ * ]]; then
                builtin compadd -O matches "$@"
                (( $#matches )) && print -rl -- $matches >> $RESULT
                local index=${@[(I)-d]}
                (( index )) && print -rl -- ${(P)@[index + 1]} >> $RESULT
            fi
            builtin compadd "$@"
        }
        capture() { _main_complete }
        zle -C capture complete-word capture
        zle-line-init() {
            local line
            COLUMNS=1000
            for line in "${(@f)$(<$INPUT)}"; do
                print -r -- "== $line" >> $RESULT
                BUFFER=$line CURSOR=$#line
                zle capture
            done
            exit 0
        }
        zle -N zle-line-init
        """
}
