internal import TestSupport
internal import Testing

@testable internal import LinkCoordinator

/// The reference of the route table against the code that reads tables.
@Suite struct RouteTableReferenceTests {
    let page: ReferencePage

    init() throws {
        page = try ReferencePage(path: "Sources/LinkCoordinator/LinkCoordinator.docc/RouteTableReference.md")
    }

    /// Returns the section that describes an object.
    static func section(of object: TableObject) -> String {
        switch object {
        case .file: "The file"
        case .table: "Identity"
        case .canary: "Canary"
        case .linkBlock: "Link blocks"
        case .pathOptions: "Path options"
        case .queryOptions: "Query options"
        case .payloadPointers: "Payload pointers"
        case .linkLimits: "Link limits"
        case .rewrite: "Rewrites"
        case .capability: "Capabilities"
        case .coordinator: "Coordinators"
        case .screen: "Screens"
        case .guardRule: "Guards"
        case .guardTarget: "Guard targets"
        case .resumeOptions: "Resume options"
        case .externals: "Externals"
        case .route: "Routes"
        case .pattern: "Patterns"
        case .target: "Targets"
        case .variant: "Variants"
        case .condition: "Conditions"
        case .exclusion: "Exclusion"
        case .unsupported: "Unsupported screens"
        case .constant: "Constants"
        case .fallbackRule: "Fallback"
        case .example: "Examples"
        case .exampleRequest: "Example requests"
        case .deviceFacts: "Device facts"
        }
    }

    @Test("The reference has the keys of every object", arguments: TableObject.allCases)
    func keys(object: TableObject) throws {
        let isFacts = object == .deviceFacts
        let table = try #require(page.table(Self.section(of: object), isFacts ? "Fact" : "Key"))
        // The id of a device is not a fact.
        #expect(Set(table.names + (isFacts ? ["id"] : [])) == Set(object.keys))
        let required = zip(table.names, table.column("Default")).filter { $0.1 == "*required*" }.map(\.0)
        #expect(Set(required) == Set(object.required))
    }

    @Test("The reference has the texts that keys accept, and their defaults")
    func words() throws {
        func expect<Word: RawRepresentable<String> & CaseIterable>(
            _ section: String, _ key: String, _ otherwise: Word?, _ words: Word.Type = Word.self
        ) throws {
            let table = try #require(page.table(section, "Key"))
            let type = try #require(table.cell(key, "Type"))
            #expect(ReferencePage.code(type) == Word.allCases.map(\.rawValue), "\(section), \(key)")
            guard let otherwise else { return }
            #expect(table.cell(key, "Default") == "`\(otherwise.rawValue)`", "\(section), \(key)")
        }
        let block = TableSource.LinkBlock(offset: 0)
        try expect("Link blocks", "schemeCase", block.schemeCase)
        try expect("Link blocks", "host", nil, TableSource.LinkBlock.HostRole.self)
        try expect("Path options", "emptySegments", block.emptySegments)
        try expect("Query options", "names", block.query.names)
        try expect("Query options", "duplicates", block.query.duplicates)
        try expect("Query options", "decode", block.query.decode)
        try expect("Query options", "plus", block.query.plus)
        try expect("Query options", "nulls", block.query.nulls)
        let id = Located("a", at: 0)
        let route = TableSource.Route(id: id, action: .variants([]), offset: 0)
        try expect("Routes", "onInvalid", route.onInvalid)
        try expect("Routes", "unknownScreen", route.unknownScreen)
        try expect("Targets", "mode", TableSource.Target.Mode.replace)
        try expect("Targets", "present", nil, Presentation.self)
        try expect("Exclusion", "outcome", nil, TableSource.Exclusion.self)
        try expect("Fallback", "outcome", nil, TableSource.FallbackRule.Outcome.self)
    }

    @Test("The reference has the limits of a link with their defaults and bounds")
    func linkLimits() throws {
        typealias Limits = TableSource.LinkLimits
        let limits = Limits()
        let defaults = [limits.maxBytes, limits.maxSegments, limits.maxQueryItems]
        let table = try #require(page.table("Link limits", "Key"))
        #expect(table.column("Default") == defaults.map { "\($0)" })
        let bounds = [Limits.bytesBounds, Limits.segmentsBounds, Limits.queryItemsBounds]
        #expect(table.column("Bounds") == bounds.map { "\($0.lowerBound) to \($0.upperBound)" })
    }

    @Test("The reference has the limits of a table")
    func limits() throws {
        let table = try #require(page.table("Limits of a table", "Limit"))
        let values = Dictionary(zip(table.rows.map { $0[0] }, table.column("Value")), uniquingKeysWith: { $1 })
        #expect(
            values == [
                "size of the file": "\(TableSource.maxFileBytes >> 20) MiB",
                "nesting of objects and lists": "\(TableSource.maxFileDepth)",
                "members of an object, items of a list": Self.grouped(TableReader.maxItems),
                "reported errors": "\(ProblemList.maxCount)", "length of a name": "\(NameRule.maxBytes) bytes",
                "length of `version`": "256 bytes",
                "segments of a pattern, of a template": "\(PatternParser.maxSegments)",
                "entries of a stack": "\(StaticStack.maxEntries)",
                "entries of all different stacks whose `parents` are a route": "8,388,608",
                "sheets and covers of a stack": "\(StaticStack.maxModals)",
                "redirects of a request": "\(TableChecks.maxRedirects)",
                "bytes of a `string` or `url` field": "\(FieldType.maxTextBytes)",
                "items of a list field": "\(FieldType.maxListCount)",
                "significant digits of a `double`": "\(TextForms.maxDoubleDigits)",
                "bytes of a `double`": "\(TextForms.maxDoubleBytes)",
                "significant digits of a `decimal`": "\(TextForms.maxDecimalDigits)",
                "bytes of a `decimal`": "\(TextForms.maxDecimalBytes)",
                "digits of the fraction of a `datetime`": "\(TextForms.maxFractionDigits)",
                "bytes of a version": "\(Version.maxBytes)",
            ])
    }

    private static func grouped(_ number: Int) -> String { "\(number / 1_000),\(String("\(number)".suffix(3)))" }

    @Test("The reference has the schema versions with the keys and types that they introduced")
    func schemaVersions() throws {
        let supported = RouteTable.supportedSchemaVersions
        let key = page.table("The file", "Key")?.cell("schemaVersion", "Type")
        #expect(key == "integer, \(supported.lowerBound) to \(supported.upperBound)")
        let table = try #require(page.table("Schema versions", "Version"))
        #expect(table.rows.map { $0[0] } == supported.map { "\($0)" })
        for (version, row) in zip(supported, table.rows).dropFirst() {
            let parts = SchemaVersions.current.introduced.filter { $0.value == version }.keys.map(Self.text)
            #expect(Set(row[1].split(separator: ", ").map(String.init)) == Set(parts), "\(version)")
        }
    }

    /// The text of a part in the table of schema versions.
    private static func text(of part: SchemaPart) -> String {
        switch part {
        case .key(let key, let object): "key `\(key)` ([\(section(of: object))])"
        case .fieldType(let name): "field type `\(name)`"
        case .captureType(let name): "capture type `\(name)`"
        }
    }

    @Test("The reference has the types of fields and captures")
    func types() throws {
        func names(_ table: ReferencePage.Table) -> Set<String> {
            Set(table.names.map { String($0.prefix { $0.isLetter }) }.filter { !$0.isEmpty })
        }
        let fields = try #require(page.table("Field types", "Type"))
        #expect(names(fields) == Set(FieldTypeParser.names))
        let captures = try #require(page.table("Capture types", "Type"))
        #expect(names(captures) == Set(CaptureType.names))
        let decision = try ReferencePage(path: "Sources/LinkCoordinator/LinkCoordinator.docc/DecisionReference.md")
        #expect(decision.table("Models", "Field type")?.names == FieldTypeParser.names)
    }

    @Test("The dates and times of the reference are published, and refused, as it says")
    func datesAndTimes() throws {
        let valid = try #require(page.table("Dates and times", "Text"))
        for (text, published) in zip(valid.names, valid.column("Published as")) {
            #expect(FieldType.dateTime.canonicalText(text) == ReferencePage.code(published).first, "\(text)")
        }
        let invalid = try #require(page.table("Dates and times", "Invalid text")).names
        #expect(valid.rows.count >= 5 && invalid.count >= 10)
        for text in invalid { #expect(FieldType.dateTime.canonicalText(text) == nil, "\(text)") }
    }

    @Test("The reference has the codes of errors, and the article on warnings those of warnings")
    func codes() throws {
        let warnings = Set(TableProblem.Code.ofWarnings)
        // A redirect to nothing is an error if it has no captures, and a warning otherwise.
        let errors = TableProblem.Code.allCases.filter { !warnings.contains($0) || $0 == .redirectNowhere }
        #expect(Set(page.table("Problem codes", "Code")?.names ?? []) == Set(errors.map(\.rawValue)))
        let article = try ReferencePage(path: "Sources/RouteAnalysis/RouteAnalysis.docc/Warnings.md")
        #expect(Set(article.table("Overview", "Code")?.names ?? []) == Set(warnings.map(\.rawValue)))
    }

    @Test("Every link to a section of a reference has a heading as its target")
    func anchors() throws {
        let files = try Checkout.trackedFiles().filter { $0.path.hasSuffix("Reference.md") }
        #expect(files.count == 4)
        for file in files {
            let page = try ReferencePage(path: file.path)
            let anchors = Set(page.headings.map { $0.replacing(" ", with: "-") })
            let links = page.text.matches(of: #/\]\(#([^)]+)\)/#).map { String($0.1) }
            #expect(links.filter { !anchors.contains($0) } == [], "\(file.path)")
        }
    }
}
