internal import StrictJSON

extension TableReader {
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
            suggestion: LikelyVersion.version(text.value).map { "write `\($0)`" }
                ?? "use 1 to 5 numbers with dots and an optional pre-release, such as `4.0.0` or `4.0.0-beta.1`")
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
}
