internal import RouteTools
internal import LinkIngest

/// The rules for push messages that a command uses: the vendor table and the rules of link platforms.
struct LoadedVendors: Sendable {
    /// The vendors, or nil if there is no table.
    private(set) var table: VendorTable?
    /// The link platforms, or nil if there are no rules.
    private(set) var platforms: LinkPlatforms?
    /// The files.
    private(set) var paths: [String] = []
    /// The names of the shipped files that were not found.
    private(set) var missing: [String] = []

    /// The shipped files by the names of their settings.
    static let files: [(setting: String, file: String)] = [
        ("vendors", "vendors.json"), ("link.platforms", "link-platforms.json"),
    ]

    /// Loads no rules.
    init() {}

    /// Loads the vendor table that comes with linkd and those of the settings, and the link platforms of the settings
    /// or those that come with linkd.
    ///
    /// A shipped file that is not found is no failure, because native events need none. Problems are passed to
    /// `report`. A refused file ends with exit code 65.
    init(
        _ settings: Settings, _ shipped: ShippedFiles,
        report: (_ file: String, _ problem: CheckedVendors.Problem) -> Void
    ) throws(CommandFailure) {
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
                case .platforms(let platforms) where setting == "link.platforms": self.platforms = platforms
                default: throw Self.wrongKind(setting, settings.entry(setting).source, path)
                }
                for problem in checked.problems { report(path, problem) }
                if checked.isRefused { throw Self.refusal(checked, advice: "fix the problems listed above, or see") }
                paths.append(path)
            }
        }
    }

    /// Adds the rows of a table, or the problems that they have with those of earlier files.
    private mutating func add(_ table: VendorTable, of checked: inout CheckedVendors) {
        do throws(RuleFileFailure) {
            self.table = try self.table?.adding(table, of: checked.bytes) ?? table
        } catch {
            checked.problems = error.problems.map(CheckedVendors.Problem.init)
        }
    }

    /// Loads rules, and prints their problems and the shipped files that were not found.
    init(_ settings: Settings, _ shipped: ShippedFiles, on console: Console) throws(CommandFailure) {
        try self.init(settings, shipped) { file, problem in
            console.warn(problem.lines(file: file).joined(separator: "\n"))
        }
        for file in missing { console.warn("warning: \(Self.missingText(file)); \(Self.missingAdvice)") }
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
        if setting != "vendors" { return [settings.text(setting) ?? shipped] }
        return [shipped] + settings.list(setting).filter { $0 != shipped }
    }

    /// Returns the files in the arguments of a command, or those that a worker with its settings reads.
    static func paths(_ call: Invocation) throws(CommandFailure) -> [String] {
        // Settings are read in any case, so that wrong ones are reported.
        let settings = try call.settings()
        if !call.operands.isEmpty { return call.operands }
        let shipped = ShippedFiles(environment: call.environment)
        var paths: [String] = []
        for (setting, file) in files {
            if setting != "vendors", let path = settings.text(setting) {
                paths.append(path)
            } else {
                paths += Self.paths(setting, settings, try shipped.path(file)).compactMap(\.self)
            }
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

extension OperandDeclaration {
    /// The files that a command reads, see `LoadedVendors.paths`.
    static let vendors = OperandDeclaration(
        name: "FILE",
        help: "Vendor tables, or files of link platforms. Default: those that a worker with these settings reads.",
        count: 0...64)
}
