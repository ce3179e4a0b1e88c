internal import RouteTools

/// The files of a command line, which are checked before anything is sent.
enum InputFiles {
    /// Returns the size of all files together in bytes, or nil if one of them is not a regular file.
    ///
    /// Directories and files that cannot be read end with exit code 65. Named pipes are not opened, because their
    /// writers can start later.
    static func size(of paths: [String]) throws(CommandFailure) -> Int64? {
        var faults: [String] = []
        var size: Int64? = 0
        for path in paths {
            guard path != "-", let stamp = FileStamp(of: path) else {
                if path != "-", case .failure(let error) = Platform.open(path) {
                    faults.append("\(Escaping.visible(path)) cannot be read: \(error.text)")
                }
                size = nil
                continue
            }
            size = stamp.isRegular ? size.map { $0 + stamp.size } : nil
            if stamp.isDirectory {
                faults.append("\(Escaping.visible(path)) is a directory")
            } else if stamp.isRegular {
                switch Platform.open(path) {
                case .success(let descriptor): Platform.close(descriptor)
                case .failure(let error): faults.append("\(Escaping.visible(path)) cannot be read: \(error.text)")
                }
            }
        }
        guard !faults.isEmpty else { return size }
        let rest = faults.count > 20 ? ", and \(faults.count - 20) more" : ""
        throw CommandFailure(
            .badData, faults.prefix(20).joined(separator: "; ") + rest,
            advice: "specify files that this user can read, or - for standard input; nothing was sent")
    }
}
