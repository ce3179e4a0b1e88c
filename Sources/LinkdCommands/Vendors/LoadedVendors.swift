internal import RouteTools
internal import LinkIngest

/// The rules for push messages that a command uses: the vendor table and the rules of link platforms.
struct LoadedVendors {
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

    /// Loads the files in the settings, and for each setting without a file, the one that comes with linkd.
    ///
    /// A shipped file that is not found is no failure, because native events need none. Problems are passed to
    /// `report`. A refused file ends with exit code 65.
    init(
        _ settings: Settings, _ shipped: ShippedFiles,
        report: (_ file: String, _ problem: CheckedVendors.Problem) -> Void
    ) throws(CommandFailure) {
        for (setting, file) in Self.files {
            guard let path = settings.text(setting) ?? (try? shipped.path(file)) else {
                missing.append(file)
                continue
            }
            let checked = try CheckedVendors(path: path)
            for problem in checked.problems { report(path, problem) }
            if checked.isRefused { throw Self.refusal(checked, advice: "fix the problems listed above, or see") }
            switch checked.rules {
            case .vendors(let table) where setting == "vendors": self.table = table
            case .platforms(let platforms) where setting == "link.platforms": self.platforms = platforms
            default: throw Self.wrongKind(setting, settings.entry(setting).source, path)
            }
            paths.append(path)
        }
    }

    /// Loads rules and prints their problems.
    init(_ settings: Settings, _ shipped: ShippedFiles, on console: Console) throws(CommandFailure) {
        try self.init(settings, shipped) { file, problem in
            console.warn(problem.lines(file: file).joined(separator: "\n"))
        }
    }

    /// Returns the files in the arguments of a command, or those of its settings, or those that come with linkd.
    static func paths(_ call: Invocation) throws(CommandFailure) -> [String] {
        // Settings are read in any case, so that wrong ones are reported.
        let settings = try call.settings()
        if !call.operands.isEmpty { return call.operands }
        let shipped = ShippedFiles(environment: call.environment)
        var paths: [String] = []
        for (setting, file) in files {
            if let path = settings.text(setting) { paths.append(path) } else { paths.append(try shipped.path(file)) }
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
        help: "Vendor tables, or files of link platforms. Default: those of the settings, or those that come with "
            + "linkd.",
        count: 0...64)
}
