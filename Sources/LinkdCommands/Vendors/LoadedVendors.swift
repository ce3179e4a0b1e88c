internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteTools
internal import ShortLinks
internal import StrictJSON

/// The rules for push messages that a command uses: the vendor table and the rules of link platforms.
struct LoadedVendors: Sendable {
    /// The vendors, or nil if there is no table.
    private(set) var table: VendorTable?
    /// The link platforms, or nil if there are no rules.
    private(set) var platforms: LinkPlatforms?
    /// The file with the destinations of short links, or nil if the settings name none or the command does not use it.
    private(set) var shortLinks: ShortLinkSource?
    /// The files.
    private(set) var paths: [String] = []
    /// The bytes of the vendor tables, in the order in which they are added to each other.
    private(set) var vendorFiles: [[UInt8]] = []
    /// The bytes of the rules of link platforms, or nil if there are none.
    private(set) var platformFile: [UInt8]?
    /// The names of the shipped files that were not found.
    private(set) var missing: [String] = []

    /// The shipped files by the names of their settings.
    static let files: [(setting: String, file: String)] = [
        ("vendors", "vendors.json"), ("link.platforms", "link-platforms.json"),
    ]

    /// Loads no rules.
    init() {}

    /// The value of a setting that leaves out the shipped file.
    static let none = "none"

    /// Loads the vendor table that comes with linkd and the vendor tables of the settings, and the link platforms of
    /// the settings or else the shipped ones.
    ///
    /// A shipped file that is not found is listed in `missing`. Commands that only show results warn about it, and a
    /// worker does not start, see `requireShipped`. Problems are passed to
    /// `report`. A refused file ends with exit code 65.
    ///
    /// - Parameters:
    ///   - settings: The settings.
    ///   - shipped: The shipped files.
    ///   - opensShortLinks: A Boolean value that indicates whether the file of short links is opened. Decisions have
    ///     its answers, so commands that decide again do without it.
    ///   - report: A function that is called with each problem.
    init(
        _ settings: Settings, _ shipped: ShippedFiles, opensShortLinks: Bool = true,
        report: (_ file: String, _ problem: CheckedVendors.Problem) -> Void
    ) throws(CommandFailure) {
        if opensShortLinks, let path = settings.text("short.links") {
            shortLinks = ShortLinkSource(try ShortLinkFile.ofSetting(path))
        }
        for (setting, file) in Self.files {
            for path in Self.paths(setting, settings, try? shipped.path(file)) {
                guard let path else {
                    missing.append(file)
                    continue
                }
                var checked = try CheckedVendors(path: path)
                switch checked.rules {
                case _ where checked.isRefused: break
                case .vendors(let table?) where setting == "vendors": add(table, of: &checked)
                case .platforms(let platforms) where setting == "link.platforms":
                    self.platforms = platforms
                    platformFile = checked.bytes
                default: throw Self.wrongKind(setting, settings.entry(setting).source, path)
                }
                for problem in checked.problems { report(path, problem) }
                if checked.isRefused { throw Self.refusal(checked, advice: "fix the problems listed above, or see") }
                paths.append(path)
            }
        }
    }

    /// Loads rules from the bytes of files that were used before, or returns nil if they are not valid.
    init?(vendorFiles: [[UInt8]], platformFile: [UInt8]?) {
        for bytes in vendorFiles {
            var checked = CheckedVendors(path: "", bytes)
            guard !checked.isRefused, case .vendors(let table?) = checked.rules else { return nil }
            add(table, of: &checked)
            if checked.isRefused { return nil }
        }
        guard let platformFile else { return }
        guard case .platforms(let platforms?) = CheckedVendors(path: "", platformFile).rules else { return nil }
        self.platforms = platforms
        self.platformFile = platformFile
    }

    /// Adds the rows of a table, or reports the problems that they have together with the rows of earlier files.
    private mutating func add(_ table: VendorTable, of checked: inout CheckedVendors) {
        do throws(RuleFileFailure) {
            self.table = try self.table?.adding(table, of: checked.bytes) ?? table
            vendorFiles.append(checked.bytes)
        } catch {
            checked.problems = error.problems.map(CheckedVendors.Problem.init)
        }
    }

    /// Loads rules, and prints their problems and the shipped files that were not found.
    init(
        _ settings: Settings, _ shipped: ShippedFiles, opensShortLinks: Bool = true, on console: Console
    ) throws(CommandFailure) {
        try self.init(settings, shipped, opensShortLinks: opensShortLinks) { file, problem in
            console.warn(problem.lines(file: file).joined(separator: "\n"))
        }
        for file in missing { console.warn("warning: \(Self.missingText(file)); \(Self.missingAdvice)") }
    }

    /// Ends with exit code 78 if a shipped file was not found.
    ///
    /// Without its rules, each push message would become a decision that opens nothing, and would be committed.
    func requireShipped() throws(CommandFailure) {
        guard let file = missing.first, let setting = Self.files.first(where: { $0.file == file })?.setting else {
            return
        }
        let flag = "--" + setting.replacing(".", with: "-")
        throw CommandFailure(
            .configuration, Self.missingText(file),
            advice: "\(Self.missingAdvice), or add `\(flag) none` to read native events and links only")
    }

    /// Returns a description of a shipped file that was not found.
    static func missingText(_ file: String) -> String {
        let rules = file == files[0].file ? "vendors" : "link platforms"
        return "\(file), which comes with linkd, was not found, so none of its \(rules) are recognized"
    }

    /// A description of what to do about a shipped file that was not found.
    static let missingAdvice = "set LINKD_HOME to the directory that contains it"

    /// Returns the files of a setting in the order in which they are read.
    ///
    /// A shipped file that was not found is nil.
    private static func paths(_ setting: String, _ settings: Settings, _ shipped: String?) -> [String?] {
        if setting != "vendors" {
            let path = settings.text(setting)
            return path == none ? [] : [path ?? shipped]
        }
        let own = settings.list(setting)
        return (own.contains(none) ? [] : [shipped]) + own.filter { $0 != shipped && $0 != none }
    }

    /// Returns the files in the arguments of a command, or the files that a worker with its settings reads.
    static func paths(_ call: Invocation) throws(CommandFailure) -> [String] {
        // Settings are read in any case, so that wrong ones are reported.
        let settings = try call.settings()
        if !call.operands.isEmpty { return call.operands }
        let shipped = ShippedFiles(environment: call.environment)
        var paths: [String] = []
        for (setting, file) in files {
            let isOwn = setting == "vendors" ? settings.list(setting).contains(none) : settings.text(setting) != nil
            paths += Self.paths(setting, settings, isOwn ? nil : try shipped.path(file)).compactMap(\.self)
        }
        return paths
    }

    /// Returns the failure for a refused file.
    static func refusal(_ checked: CheckedVendors, advice: String) -> CommandFailure {
        let path = Escaping.visible(checked.path)
        return CommandFailure(
            .badData, "\(path) is refused: \(Counts.text(checked.problems.count, "problem"))",
            advice: "\(advice) `linkd vendors check \(path)`")
    }

    private static func wrongKind(_ setting: String, _ source: SettingSource, _ path: String) -> CommandFailure {
        let isTable = setting == "vendors"
        return CommandFailure(
            source.code,
            "\(source.description): \(Escaping.visible(path)) has no " + (isTable ? "vendors" : "link platforms"),
            advice: "specify a \(isTable ? "vendor table" : "file of link platforms") such as the one that comes with "
                + "linkd")
    }
}

extension Operands {
    /// The files that a command reads, see `LoadedVendors.paths`.
    static let vendors = Operands(
        name: "FILE",
        help: "Vendor tables, or files of link platforms. Default: those that a worker with these settings reads.",
        count: 0...64)
}

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
        let bytes = try Platform.required(path, limit: Self.limitBytes, as: Escaping.visible(path))
        self.init(path: path, Self.withoutMark(bytes))
    }

    /// Returns the bytes of a file without the byte order mark that some editors write before UTF-8.
    private static func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// Returns the problem of a file in UTF-16, or nil.
    private static func encodingProblem(_ bytes: [UInt8]) -> RuleFileProblem? {
        guard bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) else { return nil }
        return RuleFileProblem(
            code: .json, location: JSONLocation(line: 1, column: 1, pointer: ""),
            expected: "expected UTF-8, found UTF-16: convert the file with `iconv -f UTF-16 -t UTF-8`")
    }

    /// Checks the bytes of a file, and runs its examples.
    init(path: String, _ bytes: [UInt8]) {
        self.path = path
        json = try? JSONValue.parse(bytes)
        let found: [RuleFileProblem]
        if let problem = Self.encodingProblem(bytes) {
            found = [problem]
            rules = .vendors(nil)
        } else if let json, json["platforms"] != nil, json["vendors"] == nil {
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

extension DeciderConfiguration {
    /// Creates the configuration of every decider of a command from its settings.
    init(_ settings: Settings, _ tables: [RouteTable], _ vendors: LoadedVendors, candidate: CanaryPlan? = nil) {
        self.init(
            tables: TableSet(tables), candidate: candidate, limits: Limits(settings),
            passthrough: settings.passthrough, contextQuery: settings.contextQuery, vendors: vendors.table,
            platforms: vendors.platforms, outputs: settings.outputs.names.count > 1 ? settings.outputs : nil,
            shortLinks: vendors.shortLinks)
    }
}

extension Settings {
    /// A registry without devices for checks that read no registry, or nil if the worker has none.
    ///
    /// An event with `user` is then valid, and has no devices.
    var emptyRegistry: GivenDevices? { text("devices.topic") == nil ? nil : GivenDevices() }
}

extension Limits {
    /// Creates the limits in the settings.
    init(_ settings: Settings) {
        self.init(
            recordBytes: Int(settings.number("limits.record.bytes")), depth: Int(settings.number("limits.json.depth")),
            devices: Int(settings.number("limits.devices")),
            decisionBytes: Int(settings.number("limits.decision.bytes")),
            outputBytes: Int(settings.number("limits.output.bytes")))
    }
}

extension ShortLinkFile {
    /// Opens the file of the setting `short.links`, and reads all of it.
    static func ofSetting(_ path: String) throws(CommandFailure) -> ShortLinkFile {
        let file = try open(path, setting: "short.links")
        guard file.verify() else {
            throw CommandFailure(
                .badData, "short.links: \(Escaping.visible(path)) is damaged",
                advice: "build it again with `linkd short-links build`, which renames it when it is complete")
        }
        return file
    }

    /// Opens a file, with its failure as one of a command.
    static func open(_ path: String, setting: String? = nil) throws(CommandFailure) -> ShortLinkFile {
        do throws(ShortLinkError) {
            return try ShortLinkFile(path: path)
        } catch {
            throw CommandFailure(error, setting: setting)
        }
    }
}

extension CommandFailure {
    /// Creates the failure of a command for a file of short links.
    init(_ error: ShortLinkError, setting: String? = nil) {
        let path = (setting.map { $0 + ": " } ?? "") + Escaping.visible(error.path)
        switch error.kind {
        case .system:
            self.init(
                .configuration, "\(path) cannot be used: \(error.reason)",
                advice: "specify a file that this user can access, on a disk with space")
        case .format:
            self.init(.badData, "\(path): \(error.reason)", advice: "build it again with `linkd short-links build`")
        }
    }
}
