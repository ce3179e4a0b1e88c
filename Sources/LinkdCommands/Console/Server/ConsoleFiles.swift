/// The files of the page, which are read once, when the console starts.
struct ConsoleFiles: Sendable {
    /// A file.
    struct File: Sendable {
        /// The name in the directory.
        var name: String
        /// The value of the `Content-Type` header.
        var contentType: String
        /// The contents.
        var bytes: [UInt8]

        /// The paths of the file: its name, and for the page itself also the root.
        var paths: [String] { name == "index.html" ? ["/", "/index.html"] : ["/" + name] }
    }

    /// The maximum size of a file in bytes.
    private static let limitBytes = 1 << 20
    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    ]

    /// The files.
    let all: [File]

    /// Reads the files of the directory `console` that comes with linkd.
    ///
    /// A directory or a file that cannot be read ends with exit code 78.
    init(_ shipped: ShippedFiles) throws(CommandFailure) {
        let directory = try shipped.path("console")
        var files: [File] = []
        for name in Platform.names(in: directory).sorted() {
            guard let dot = name.lastIndex(of: "."), let type = Self.types[String(name[name.index(after: dot)...])]
            else { continue }
            switch Platform.contents(of: directory + "/" + name, limit: Self.limitBytes) {
            case .success(let bytes): files.append(File(name: name, contentType: type, bytes: bytes))
            case .failure(let error):
                throw CommandFailure(
                    .configuration, "\(directory)/\(name), a file of the console's page, cannot be read: \(error.text)",
                    advice: "install linkd again, or set LINKD_HOME to its directory `config`")
            }
        }
        guard files.contains(where: { $0.name == "index.html" }) else {
            throw CommandFailure(
                .configuration, "\(directory) has no file index.html, the console's page",
                advice: "install linkd again, or set LINKD_HOME to its directory `config`")
        }
        all = files
    }
}
