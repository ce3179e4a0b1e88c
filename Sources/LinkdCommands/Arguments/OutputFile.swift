internal import RouteTools

/// The flags `--out` and `--force` of commands that write a file.
enum OutputFile {
    /// The flags, for a file of the given kind.
    static func flags(_ kind: String) -> [Flag] {
        [
            Flag("--out", .file, default: "-, standard output", "Write the \(kind) to this file."),
            Flag("--force", "Replace a file that exists."),
        ]
    }

    /// Returns the file of `--out`, or nil for standard output.
    static func path(_ call: Invocation) -> String? {
        call.text("out").flatMap { $0 == Platform.standardStream ? nil : $0 }
    }

    /// Ends with exit code 64 if the file of `--out` exists and `--force` is not given, or `--force` has no file.
    static func check(_ call: Invocation) throws(CommandFailure) {
        guard let path = path(call) else {
            guard call.isOn("force") else { return }
            throw CommandFailure(.usage, "--force is given, but no file", advice: "pass --out FILE too")
        }
        guard !call.isOn("force"), Platform.exists(path) else { return }
        throw CommandFailure(
            .usage, "--out: \(Escaping.visible(path)) exists",
            advice: "name a file that does not exist, or pass --force to replace it")
    }

    /// Writes a text to the file of `--out`, or to standard output.
    static func write(_ text: String, _ call: Invocation) throws(CommandFailure) {
        guard let path = path(call) else { return call.console.out.write(text) }
        try write(text, to: path, flag: "out", replaces: call.isOn("force"))
    }

    /// Writes a text to a file.
    ///
    /// A file that exists is replaced only if that is asked for. A file that cannot be written ends with exit code 78.
    static func write(_ text: String, to path: String, flag: String, replaces: Bool) throws(CommandFailure) {
        let bytes = Array(text.utf8)
        var error: SystemError?
        if replaces {
            error = Platform.writeFile(path, bytes, mode: 0o666)
        } else {
            switch Platform.createFile(path) {
            case .success(let descriptor):
                if !bytes.withUnsafeBytes({ Platform.write(descriptor, $0) }) {
                    error = SystemError.last
                    Platform.remove(path)
                }
                Platform.close(descriptor)
            case .failure(let failure): error = failure
            }
        }
        guard let error else { return }
        throw CommandFailure(
            .configuration, "--\(flag): \(Escaping.visible(path)) cannot be written: \(error.text)",
            advice: "name a file in a directory that this user can write to and that has space")
    }
}
