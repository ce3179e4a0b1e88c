internal import RouteTools
internal import LinkIngest
internal import StrictJSON

/// A file with rules for push messages, read and checked: a vendor table, or the rules of link platforms.
struct CheckedVendors {
    /// A problem of a file.
    struct Problem {
        /// The stable code.
        var code: String
        /// The location of the value at fault.
        var location: JSONLocation
        /// A description that begins with the expected value.
        var message: String
        /// A description of what to do.
        var suggestion: String

        init(_ problem: RuleFileProblem) {
            code = problem.code.rawValue
            location = problem.location
            message = problem.expected
            suggestion = problem.suggestion
        }

        /// Returns the problem as lines: `file:line:column: error: … [code]`, then the pointer and the suggestion.
        func lines(file: String) -> [String] {
            var lines = ["\(file):\(location.line):\(location.column): error: \(message) [\(code)]"]
            if !location.pointer.isEmpty { lines.append("    at \(location.pointer)") }
            lines.append("    \(suggestion)")
            return lines.map(Escaping.visible)
        }
    }

    /// The rules of a file.
    enum Rules {
        case vendors(VendorTable?)
        case platforms(LinkPlatforms?)
    }

    /// The path of the file.
    var path: String
    /// The rules, or nil if they cannot be used.
    var rules: Rules
    /// The problems in the order of the file.
    var problems: [Problem]
    /// The file as JSON, or nil if it is not strict JSON.
    var json: JSONValue?
    /// The bytes of the file.
    let bytes: [UInt8]

    /// The size limit of a file.
    static let limitBytes = 16 << 20

    /// Reads and checks a file, and runs its examples.
    ///
    /// A file with the member `platforms` has the rules of link platforms. A file that cannot be read ends with exit
    /// code 78.
    init(path: String) throws(CommandFailure) {
        switch Platform.contents(of: path, limit: Self.limitBytes) {
        case .failure(let error):
            throw CommandFailure(
                .configuration, "\(Escaping.visible(path)) cannot be read: \(error.text)",
                advice: "specify a file that this user can read")
        case .success(let bytes): self.init(path: path, bytes)
        }
    }

    private init(path: String, _ bytes: [UInt8]) {
        self.path = path
        json = try? JSONValue.parse(bytes)
        let found: [RuleFileProblem]
        if let json, json["platforms"] != nil, json["vendors"] == nil {
            let platforms: LinkPlatforms?
            (platforms, found) = LinkPlatforms.check(bytes)
            rules = .platforms(found.isEmpty ? platforms : nil)
        } else {
            let table: VendorTable?
            (table, found) = VendorTable.check(bytes)
            rules = .vendors(found.isEmpty ? table : nil)
        }
        self.bytes = bytes
        problems = found.map(Problem.init)
    }

    /// A Boolean value that indicates whether the file is refused.
    var isRefused: Bool { !problems.isEmpty }

    /// The rows of the file: vendors or platforms.
    var rows: [JSONValue] {
        switch rules {
        case .vendors: json?["vendors"]?.array ?? []
        case .platforms: json?["platforms"]?.array ?? []
        }
    }

    /// The number of rows with their name.
    var rowsText: String {
        switch rules {
        case .vendors: Counts.text(rows.count, "vendor")
        case .platforms: Counts.text(rows.count, "link platform")
        }
    }

    /// The number of examples.
    var examples: Int { rows.reduce(0) { $0 + ($1["examples"]?.array?.count ?? 0) } }
}
