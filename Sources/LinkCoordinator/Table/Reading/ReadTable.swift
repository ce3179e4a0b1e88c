internal import StrictJSON

/// A table that was read, with its problems and the parts that could not be read completely.
package struct TableReading: Sendable {
    /// The parts of the table that could be read, or nil if the file is not a JSON object.
    package var source: TableSource?

    /// The problems of the table.
    package var problems: ProblemList

    /// The parts of the table that could not be read completely.
    package var damage: TableDamage

    /// The schema version that the table declares, and the parts for which it matters.
    package var schema: TableSchema
}

extension TableSource {
    /// Reads a table file: syntax, keys, types, and small texts.
    ///
    /// `TableChecks` finds all other problems. A table that declares a newer schema version than is supported has no
    /// source.
    package static func read(
        _ file: [UInt8], versions: SchemaVersions = .current, advisor: ProblemList.Advisor? = nil
    ) -> TableReading {
        var reader = TableReader(file: file, versions: versions, problems: ProblemList(advisor))
        let source = reader.table()
        reader.schema.check(versions, into: &reader.problems)
        return TableReading(
            source: reader.isNewer ? nil : source, problems: reader.problems, damage: reader.damage,
            schema: reader.schema)
    }
}

/// A file that is no JSON at all, which its first bytes show.
package enum ForeignFile {
    /// Returns what the file is and what to do, or nil if it can be JSON.
    package static func fault(of file: [UInt8]) -> (message: String, suggestion: String)? {
        if file.starts(with: [0xEF, 0xBB, 0xBF]) {
            return ("the file begins with a byte order mark", "save the file as UTF-8 without a byte order mark")
        }
        if file.starts(with: [0xFF, 0xFE]) || file.starts(with: [0xFE, 0xFF]) || file.prefix(4).contains(0) {
            return ("the file is UTF-16 or UTF-32, not UTF-8", "save the file as UTF-8")
        }
        if file.starts(with: [0x1F, 0x8B]) { return ("the file is compressed with gzip", "decompress it") }
        let text = file.drop { $0 == 0x20 || $0 &- 9 < 2 || $0 == 13 }
        if text.isEmpty { return ("the file is empty", "write a table, which begins with `{`") }
        // A marker of a conflict, `<<<<<<<`, is no markup.
        guard text.starts(with: "<".utf8), !text.starts(with: "<<".utf8) else { return nil }
        return ("the file is HTML or XML, not JSON", "check where the file comes from")
    }
}

extension TableReader {
    /// Reads the whole file.
    mutating func table() -> TableSource? {
        guard file.count <= TableSource.maxFileBytes else {
            problems.error(
                .tooLarge, at: 0,
                "the file is larger than \(TableSource.maxFileBytes >> 20) MiB, the limit of a table file")
            return nil
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(file, maxDepth: TableSource.maxFileDepth)
        } catch {
            if error.code == .duplicateName {
                problems.error(.duplicate, at: error.offset - 1, error.text, suggestion: "remove one of the two")
            } else if let fault = ForeignFile.fault(of: file) {
                problems.error(.json, at: 0, fault.message, suggestion: fault.suggestion)
            } else {
                problems.error(.json, at: error.offset, error.text, hints: [.json(error, file: file)])
            }
            return nil
        }
        if let version = value["schemaVersion"] { schemaVersion(version) }
        guard let all = object(value, "the table file", .file) else { return nil }
        if let schema = all["$schema"] { _ = text(schema, "$schema") }
        var source = head(all["table"])
        source.schemaVersion = schema.declared ?? versions.newest
        if let vars = all["vars"] { readVars(vars, &source) }
        if let link = all["link"] { damage.link = hasErrors { $0.link(link, &source) } }
        if let models = all["models"] { damage.models = hasErrors { source.models = $0.models(models) } }
        if let value = all["capabilities"] {
            damage.capabilities = hasErrors { source.capabilities = $0.capabilities(value) }
        }
        if let value = all["coordinators"] {
            damage.coordinators = hasErrors { source.coordinators = $0.coordinators(value) }
        }
        replacesVars = true
        if let guards = all["guards"] { damage.guards = hasErrors { source.guards = $0.guards(guards) } }
        source.externals.hosts = Self.defaultExternals(source.blocks)
        if let value = all["externals"] { damage.externals = hasErrors { $0.externals(value, &source.externals) } }
        if let routes = all["routes"] { source.routes = self.routes(routes, models: source.models) }
        source.fallback = all["fallback"].map { self.fallback($0) } ?? []
        replacesVars = false
        for index in source.vars.indices {
            source.vars[index].isUsed = usedVars.contains(source.vars[index].name.value)
        }
        if let examples = all["examples"] { source.examples = self.examples(examples) }
        return source
    }

    /// Reads a part and returns a Boolean value that indicates whether it has problems.
    private mutating func hasErrors(in part: (inout TableReader) -> Void) -> Bool {
        let before = problems.count
        part(&self)
        return problems.count > before
    }

    /// Reads `table`.
    private mutating func head(_ value: JSONValue?) -> TableSource {
        var source = TableSource(
            schemaVersion: SchemaVersions.oldest, id: Located("", at: 0), version: Located("", at: 0))
        guard let value, let members = object(value, "table", .table) else { return source }
        if let id = members["id"].flatMap({ text($0, "table.id") }) {
            name(id.value, at: id.offset, "a table", .identifier)
            source.id = id
        }
        if let version = members["version"].flatMap({ nonemptyText($0, "table.version") }) {
            if version.value.utf8.count > 256 {
                problems.error(
                    .badValue, at: version.offset,
                    "table.version has \(version.value.utf8.count) bytes, the limit is 256")
            }
            source.version = version
        }
        source.applications = members["applications"].map { texts($0, "table.applications") } ?? []
        if let canary = members["canary"] { checkCanary(canary) }
        return source
    }

    /// Checks `table.canary`, which is for tools.
    private mutating func checkCanary(_ value: JSONValue) {
        guard let members = object(value, "canary", .canary) else { return }
        if let share = members["percent"] {
            let percent: Double? = if case .number(let text) = share.kind { Double(text) } else { nil }
            if !(0...100).contains(percent ?? -1) {
                problems.error(.badValue, at: share.offset, "canary.percent must be a number from 0 to 100")
            }
        }
        if let salt = members["salt"] { _ = text(salt, "canary.salt") }
        if let version = members["compareTo"] { _ = nonemptyText(version, "canary.compareTo") }
    }

    /// Reads `vars`.
    private mutating func readVars(_ value: JSONValue, _ source: inout TableSource) {
        for member in members(value, "vars") ?? [] {
            name(member.name, at: member.nameOffset - 1, "a var", .identifier)
            let text = text(member.value, "the var `\(member.name)`")?.value
            let name = Located(member.name, at: member.nameOffset - 1)
            source.vars.append(TableSource.Var(name: name, text: text ?? "", isUsed: false))
            if let text { vars[member.name] = text }
        }
    }

    /// Returns the hosts of the link blocks except `""` and `*`, without duplicates.
    private static func defaultExternals(_ blocks: [TableSource.LinkBlock]) -> [HostRule] {
        var seen = Set<HostRule>()
        return blocks.flatMap { $0.hosts.map(\.value) }.filter {
            $0 != .empty && $0 != .any && seen.insert($0).inserted
        }
    }

    /// Reads `externals`.
    private mutating func externals(_ value: JSONValue, _ externals: inout TableSource.Externals) {
        guard let members = object(value, "externals", .externals) else { return }
        if let schemes = members["schemes"] {
            externals.schemes = texts(schemes, "externals.schemes").map { scheme in
                checkScheme(scheme, exactCase: false)
                return scheme.value
            }
        }
        if let hosts = members["hosts"] { externals.hosts = hostRules(hosts, "externals.hosts").map(\.value) }
    }

    /// Reads `models`.
    mutating func models(_ value: JSONValue) -> [TableSource.Model] {
        (members(value, "models") ?? []).map { member in
            name(member.name, at: member.nameOffset - 1, "a model", .identifier)
            let what = "the model `\(member.name)`"
            let fields = (members(member.value, what) ?? []).compactMap { field($0, of: member.name) }
            return TableSource.Model(name: Located(member.name, at: member.nameOffset - 1), fields: fields)
        }
    }

    private mutating func field(_ member: JSONMember, of model: String) -> TableSource.Field? {
        name(member.name, at: member.nameOffset - 1, "a field", .identifier, reserves: true)
        guard let text = text(member.value, "the type of `\(model).\(member.name)`") else { return nil }
        noteFieldTypes(text)
        do throws(TextError) {
            let (type, absence) = try FieldTypeParser.parse(text.value)
            return TableSource.Field(
                name: Located(member.name, at: member.nameOffset - 1), type: type, absence: absence,
                offset: text.offset)
        } catch {
            reportTextError(error, in: text, .badType)
            return nil
        }
    }

    /// Reads `capabilities`.
    mutating func capabilities(_ value: JSONValue) -> [TableSource.Capability] {
        (members(value, "capabilities") ?? []).compactMap { member in
            name(member.name, at: member.nameOffset - 1, "a capability", .identifier)
            guard let members = object(member.value, "the capability `\(member.name)`", .capability) else { return nil }
            var read = TableSource.Capability(
                name: Located(member.name, at: member.nameOffset - 1),
                minApp: members["minApp"].flatMap { version($0, "minApp") },
                minOS: members["minOS"].flatMap { version($0, "minOS") },
                platforms: members["platforms"].map { textOrTexts($0, "platforms").map(\.value) },
                listed: bool(members["listed"], "listed", false))
            if read.minApp == nil, read.minOS == nil, read.platforms == nil { read.listed = true }
            return read
        }
    }

    /// Reads a version.
    mutating func version(_ value: JSONValue, _ what: String) -> VersionText? {
        guard let text = text(value, what) else { return nil }
        if let version = VersionText(text.value) { return version }
        problems.error(
            .badValue, at: text.offset, "\(what) must be a version",
            suggestion: "use 1 to 5 numbers with dots and an optional pre-release, such as `4.0.0` or `4.0.0-beta.1`",
            hints: [.version(text.value)])
        return nil
    }

    /// Reads `coordinators`.
    mutating func coordinators(_ value: JSONValue) -> [TableSource.Coordinator] {
        (members(value, "coordinators") ?? []).compactMap { member in
            name(member.name, at: member.nameOffset - 1, "a coordinator", .path)
            let what = "the coordinator `\(member.name)`"
            guard let own = object(member.value, what, .coordinator) else { return nil }
            var isSingle = false
            if let slot = own["slot"].flatMap({ text($0, "slot") }) {
                isSingle = slot.value == "single"
                if !isSingle { badWord(slot, "slot", ["single"]) }
            }
            return TableSource.Coordinator(
                name: Located(member.name, at: member.nameOffset - 1),
                screens: (own["screens"].flatMap { members($0, "screens") } ?? []).map { screen($0) },
                initial: own["initial"].flatMap { nonemptyText($0, "initial") },
                parent: own["parent"].flatMap { nonemptyText($0, "parent") },
                guarding: own["guard"].flatMap { nonemptyText($0, "guard") }, singleSlot: isSingle)
        }
    }

    private mutating func screen(_ member: JSONMember) -> TableSource.Screen {
        name(member.name, at: member.nameOffset - 1, "a screen", .path)
        var screen = TableSource.Screen(name: Located(member.name, at: member.nameOffset - 1))
        guard let members = object(member.value, "the screen `\(member.name)`", .screen) else { return screen }
        screen.needs = members["needs"].map { texts($0, "needs") } ?? []
        screen.present = members["present"].map { presentations($0) } ?? []
        screen.nav = bool(members["nav"], "nav", false)
        screen.view = members["view"].flatMap { nonemptyText($0, "view") }
        screen.since = members["since"].flatMap { version($0, "since") }
        screen.until = members["until"].flatMap { version($0, "until") }
        screen.requires = members["requires"].map { texts($0, "requires") } ?? []
        if let text = members["identity"].flatMap({ nonemptyText($0, "identity") }) {
            do throws(TextError) {
                screen.identity = TableSource.IdentityTemplate(
                    parts: try TemplateParser.identity(text.value), offset: text.offset)
            } catch {
                reportTextError(error, in: text, .badTemplate)
            }
        }
        return screen
    }

    private mutating func presentations(_ value: JSONValue) -> [Located<Presentation>] {
        guard let elements = list(value, "present") else { return [] }
        if elements.isEmpty {
            problems.error(.badValue, at: value.offset, "present must list at least one presentation")
        }
        return texts(value, "present").compactMap { presentation($0) }
    }

    /// Reads a presentation.
    mutating func presentation(_ text: Located<String>) -> Located<Presentation>? {
        if let read = Presentation(rawValue: text.value) { return Located(read, at: text.offset) }
        badWord(text, "present", Presentation.allCases.map(\.rawValue))
        return nil
    }

    /// Reads `fallback`: a rule or a list of rules.
    mutating func fallback(_ value: JSONValue) -> [TableSource.FallbackRule] {
        if case .array(let elements) = value.kind { return elements.compactMap { fallbackRule($0) } }
        return fallbackRule(value).map { [$0] } ?? []
    }

    private mutating func fallbackRule(_ value: JSONValue) -> TableSource.FallbackRule? {
        if case .string(let text) = value.kind {
            wrongType(value, "a fallback rule", "an object", suggestion: "write { \"outcome\": \"\(text)\" }")
            return nil
        }
        guard let members = object(value, "a fallback rule", .fallbackRule),
            let outcome = members["outcome"]
        else { return nil }
        var rule = TableSource.FallbackRule(
            on: members["on"].map { reasons($0) }, outcome: choice(outcome, "fallback.outcome", .reject),
            to: members["to"].flatMap { target($0) }, offset: value.offset)
        let leads = rule.outcome == .navigate || rule.outcome == .external
        if let to = members["to"], !leads {
            problems.error(
                .keyNotAllowed, at: to.offset, "`to` is not allowed with the outcome `\(rule.outcome.rawValue)`")
            rule.to = nil
        } else if leads, members["to"] == nil {
            problems.error(
                .missingKey, at: value.offset,
                "a fallback rule with the outcome `\(rule.outcome.rawValue)` needs the key `to`")
        }
        guard let target = rule.to else { return rule }
        let isExternal = if case .external = target.destination { true } else { false }
        if isExternal != (rule.outcome == .external) {
            problems.error(
                .badValue, at: target.offset,
                "the outcome `\(rule.outcome.rawValue)` needs \(isExternal ? "a path or the root" : "an external URL")")
        }
        return rule
    }

    private mutating func reasons(_ value: JSONValue) -> [Located<ReasonCode>] {
        if case .array(let elements) = value.kind, elements.isEmpty {
            problems.error(
                .badValue, at: value.offset, "on must list at least one reason",
                suggestion: "list the reasons, or remove `on` so that the rule applies to every reason")
        }
        let known = ReasonCode.allCases.filter { ![.excluded, .noLink, .internalError].contains($0) }
        return texts(value, "on").compactMap { text in
            if let reason = ReasonCode(rawValue: text.value), known.contains(reason) {
                return Located(reason, at: text.offset)
            }
            if ReasonCode(rawValue: text.value) != nil {
                problems.error(
                    .badValue, at: text.offset, "the reason `\(text.value)` never reaches the fallback",
                    suggestion: "remove it")
            } else {
                badWord(text, "on", known.map(\.rawValue))
            }
            return nil
        }
    }

    /// Reads `examples`.
    mutating func examples(_ value: JSONValue) -> [TableSource.Example] {
        (list(value, "examples") ?? []).compactMap { example($0) }
    }

    private mutating func example(_ value: JSONValue) -> TableSource.Example? {
        guard let members = object(value, "an example", .example),
            let key = onlyKey(of: ["link", "request"], in: members), let content = members[key]
        else { return nil }
        var request = TableSource.Example.Request.request(content)
        if key == "link" {
            guard case .string(let link) = content.kind else {
                wrongType(content, "link", "a string")
                return nil
            }
            request = .link(link)
        } else if !checkRequest(content) {
            return nil
        }
        if let device = members["device"] { _ = object(device, "device", .deviceFacts) }
        let expectations = TableObject.expectations.compactMap { name in
            members[name].map { TableSource.Example.Expectation(member: name, value: Self.normalized($0)) }
        }
        return TableSource.Example(
            request: request, device: members["device"].map(Self.normalized), expectations: expectations,
            offset: value.offset)
    }

    private mutating func checkRequest(_ value: JSONValue) -> Bool {
        guard let members = object(value, "request", .exampleRequest),
            let form = onlyKey(of: ["link", "path", "route", "payload"], in: members), let content = members[form]
        else { return false }
        for (key, owner) in [("mode", "path"), ("params", "route")] {
            guard form != owner, let own = members[key] else { continue }
            problems.error(.keyNotAllowed, at: own.offset, "`\(key)` is only allowed in a request with `\(owner)`")
        }
        if let mode = members["mode"] { _ = choice(mode, "mode", TableSource.Target.Mode.replace) }
        if let params = members["params"] { _ = self.members(params, "params") }
        if form == "payload" { return self.members(content, "payload") != nil }
        return text(content, form) != nil
    }

    /// Returns the value with all its texts in NFC.
    private static func normalized(_ value: JSONValue) -> JSONValue {
        switch value.kind {
        case .string(let text): JSONValue(.string(nfc(text)), offset: value.offset)
        case .array(let elements): JSONValue(.array(elements.map(normalized)), offset: value.offset)
        case .object(let members):
            JSONValue(
                .object(
                    members.map {
                        JSONMember(name: nfc($0.name), nameOffset: $0.nameOffset, value: normalized($0.value))
                    }), offset: value.offset)
        default: value
        }
    }
}
