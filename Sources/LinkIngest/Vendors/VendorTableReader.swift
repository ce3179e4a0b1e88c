internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// A reader of the file `vendors.json`, which collects all problems and writes the compiled form.
///
/// Invalid values are left out.
struct VendorTableReader {
    /// The limits of a table.
    static let mostVendors = 256
    private static let mostForms = 16
    /// The limit of sources, examples, notes of an example, texts of `equals`, and names of platforms.
    private static let mostItems = 64
    /// The limit of lists in rules, conditions in a list, places of a link, and pointers of a key.
    private static let mostParts = 16
    private static let mostButtons = 8
    private static let mostEmbedded = 8
    private static let mostPrefixBytes = 64
    private static let mostNameBytes = 128
    private static let mostSourceBytes = 512
    /// The limit of the texts of `wrapped`.
    private static let mostWordBytes = 64
    /// The limit of the first number of numbered buttons.
    private static let mostFirstNumber: Int64 = 999
    private static let mostSegments = 8
    private static let mostPointerBytes = 256

    private var log = RuleFileLog()
    private(set) var rows: [VendorRow] = []
    private(set) var compiler = VendorCompiler()
    /// The memory of the compiled form.
    let memory: TableStorage
    /// The number that replaces `{N}` in pointers, or nil.
    private var number: Int?
    /// A Boolean value that indicates whether pointers begin at a button.
    private var isInside = false
    /// The places of JSON in strings of the current form.
    private var embedded: [JSONPath] = []
    /// The kinds of envelopes that this program and the forms so far have.
    private var envelopes: Set<String> = [
        "native", "url", "apns", "fcm", "web_push", "cloudevents", "vendor_map", "map",
    ]

    init() { memory = compiler.memory }

    /// Reads a table.
    mutating func read(_ file: [UInt8]) throws(RuleFileFailure) {
        if let table = log.parse(file) { read(table) }
        if log.isEmpty { return }
        log.sort()
        throw RuleFileFailure(problems: log.problems(in: file))
    }

    private mutating func read(_ table: JSONValue) {
        guard members(table, "the table", required: ["schemaVersion", "vendors"], optional: ["$schema"]) else { return }
        if let version = table["schemaVersion"], version.integer != 1 {
            log.add(.version, at: version.offset, "expected the version 1")
        }
        for row in items(table["vendors"], "vendors", most: Self.mostVendors) { readRow(row) }
    }

    /// Reads a row of a table.
    mutating func readRow(_ value: JSONValue) {
        let required = ["id", "name", "sources", "forms", "examples"]
        guard members(value, "a vendor", required: required, optional: ["remark"]) else { return }
        let id = name(value["id"], "expected an id of 1 to 32 characters: a-z, 0-9, and -", RuleFileLog.isInID)
        let name = text(value["name"], bytes: 1...Self.mostNameBytes)
        var row = VendorRow(id: id ?? "", name: name ?? "", json: value)
        row.sources = items(value["sources"], "sources").compactMap { text($0, bytes: 1...Self.mostSourceBytes) }
        row.remark = text(value["remark"], bytes: 1...Self.mostSourceBytes)
        for form in items(value["forms"], "forms", most: Self.mostForms) { readForm(form, of: &row) }
        if value["forms"]?.array?.isEmpty == true {
            log.add(.badValue, "forms", of: value, "expected at least one form")
        }
        for example in items(value["examples"], "examples") { checkExample(example) }
        guard id != nil, name != nil else { return }
        if rows.contains(where: { $0.id == row.id }) {
            log.add(.duplicate, "id", of: value, "expected an id that no other vendor has")
        }
        rows.append(row)
    }

    // MARK: Values

    /// Reports unknown and missing members, and returns false if the value is not an object.
    private mutating func members(
        _ value: JSONValue, _ description: String, required: [String], optional: [String] = []
    ) -> Bool {
        guard log.members(value, required + optional, "expected \(description) to be an object") else { return false }
        for name in required where value[name] == nil {
            log.add(.missingMember, at: value.offset, "expected the member `\(name)`")
        }
        return true
    }

    /// Returns the elements of an array, or none if the member is absent.
    private mutating func items(
        _ value: JSONValue?, _ name: String, fewest: Int = 0, most: Int = Self.mostItems
    ) -> [JSONValue] {
        guard let value else { return [] }
        guard let list = value.array else {
            log.add(.wrongType, at: value.offset, "expected `\(name)` to be an array")
            return []
        }
        guard let items = log.elements(list, of: value, most: most) else { return [] }
        if items.count < fewest {
            log.add(
                .badValue, at: value.offset, "expected at least \(fewest) \(fewest == 1 ? "element" : "elements")")
        }
        return items
    }

    /// Returns a string with a length in a range.
    private mutating func text(_ value: JSONValue?, bytes: ClosedRange<Int>) -> String? {
        guard let value else { return nil }
        guard let text = value.string else {
            log.add(.wrongType, at: value.offset, "expected a string")
            return nil
        }
        guard bytes.contains(text.utf8.count) else {
            log.add(.badValue, at: value.offset, "expected \(bytes.lowerBound) to \(bytes.upperBound) bytes")
            return nil
        }
        return text
    }

    /// Returns a string of 1 to 32 allowed characters.
    private mutating func name(_ value: JSONValue?, _ expected: String, _ isAllowed: (UInt8) -> Bool) -> String? {
        guard let value else { return nil }
        guard let text = value.string, (1...32).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) else {
            log.add(value.string == nil ? .wrongType : .badValue, at: value.offset, expected)
            return nil
        }
        return text
    }

    private mutating func bool(_ value: JSONValue) -> Bool? {
        if case .bool(let flag) = value.kind { return flag }
        log.add(.wrongType, at: value.offset, "expected true or false")
        return nil
    }

    /// The text that the number of a button replaces.
    private static let placeholder = "{N}"

    /// Returns a pointer, with the number of the button in place of `{N}`.
    private mutating func pointer(_ value: JSONValue?) -> JSONPath? {
        guard let value else { return nil }
        guard let text = value.string else {
            log.add(.wrongType, at: value.offset, "expected a JSON pointer")
            return nil
        }
        if number == nil, text.contains(Self.placeholder) {
            log.add(.badValue, at: value.offset, "expected `{N}` only in numbered buttons")
            return nil
        }
        let whole = number.map { text.replacing(Self.placeholder, with: "\($0)") } ?? text
        guard whole.utf8.count <= Self.mostPointerBytes, let pointer = JSONPath(whole),
            (1...Self.mostSegments).contains(pointer.tokens.count)
        else {
            log.add(
                .badValue, at: value.offset,
                "expected a JSON pointer with 1 to \(Self.mostSegments) segments and at most "
                    + "\(Self.mostPointerBytes) bytes")
            return nil
        }
        return pointer
    }

    private mutating func place(_ value: JSONValue?) -> PointerImage? {
        guard let pointer = pointer(value) else { return nil }
        return compiler.pointer(pointer, isInside: isInside, embedded)
    }

    private mutating func places(_ value: JSONValue?, _ name: String) -> PointerImages {
        memory.store(items(value, name, most: Self.mostParts).compactMap { place($0) })
    }
}

// MARK: Forms

extension VendorTableReader {
    private static let formMembers = [
        "embedded", "silent", "links", "opensApp", "customActions", "buttons", "message", "campaign",
    ]
    private static let recordMembers = [
        "event", "device", "devices", "platform", "platformNames", "action", "broadcast", "delivery", "list",
    ]

    private mutating func readForm(_ value: JSONValue, of row: inout VendorRow) {
        guard value.object != nil else {
            return log.add(.wrongType, at: value.offset, "expected a form to be an object")
        }
        let surfaces = surfaces(value["on"])
        row.surfaces.formUnion(surfaces)
        let isRecord = surfaces == .record
        let required = ["on", "marks"] + (isRecord ? ["envelope"] : [])
        let optional = Self.formMembers + (isRecord ? Self.recordMembers : [])
        guard members(value, "a form", required: required, optional: optional) else { return }
        embedded = []
        let places = embedded(value["embedded"])
        var form = FormImage(vendor: Int32(rows.count), surfaces: surfaces)
        form.embedded = memory.store(places.map { compiler.pointer($0, isInside: false, []) })
        embedded = places
        form.marks = rules(value["marks"], "marks", special: "prefix")
        if value["marks"]?.array?.isEmpty == true {
            log.add(.badValue, "marks", of: value, "expected at least one list of conditions")
        }
        checkPositive(form.marks, value["marks"])
        form.silent = rules(value["silent"], "silent", special: "shown")
        form.links = links(value["links"], allowsPlatform: isRecord)
        form.opensApp = rules(value["opensApp"], "opensApp")
        form.customActions = customActions(value["customActions"])
        form.buttons = memory.store(
            items(value["buttons"], "buttons", most: Self.mostButtons).compactMap {
                buttons($0, allowsPlatform: isRecord)
            })
        form.message = self.places(value["message"], "message")
        form.campaign = self.places(value["campaign"], "campaign")
        if isRecord { form.record = record(value, of: &row) }
        compiler.add(form)
    }

    private mutating func record(_ value: JSONValue, of row: inout VendorRow) -> RecordFormImage {
        let expected = "expected the kind of an envelope, 1 to 32 characters: a-z and _"
        let envelope = name(value["envelope"], expected) { $0 &- UInt8(ascii: "a") < 26 || $0 == UInt8(ascii: "_") }
        if let envelope, !envelopes.insert(envelope).inserted {
            log.add(.duplicate, "envelope", of: value, "expected a kind that no other form has")
        }
        row.envelopes.append(envelope ?? "")
        return RecordFormImage(
            envelope: compiler.text(envelope ?? ""), isListed: value["list"].flatMap { bool($0) } ?? false,
            event: places(value["event"], "event"),
            device: places(value["device"], "device"), devices: places(value["devices"], "devices"),
            platform: places(value["platform"], "platform"), action: places(value["action"], "action"),
            broadcast: rules(value["broadcast"], "broadcast"), platformNames: platformNames(value["platformNames"]),
            delivery: delivery(value["delivery"]))
    }

    private mutating func delivery(_ value: JSONValue?) -> DeliveryImage {
        let names = ["ttl", "expires", "collapse", "priority"]
        guard let value, members(value, "`delivery`", required: [], optional: names) else { return DeliveryImage() }
        if value.object?.isEmpty == true { log.add(.badValue, at: value.offset, "expected at least one place") }
        let places = names.map { name in
            memory.store(
                items(value[name], name, most: Self.mostParts).compactMap { link($0, optional: ["when", "platform"]) })
        }
        return DeliveryImage(
            timeToLive: places[0], expiration: places[1], collapse: places[2], priority: places[3])
    }

    /// The platforms that a name can stand for.
    private static let platforms = [
        "ios", "ipados", "macos", "tvos", "watchos", "visionos", "android", "web",
    ]

    private mutating func platformNames(_ value: JSONValue?) -> UnsafeBufferPointer<PlatformNameImage> {
        guard let value else { return memory.store([]) }
        guard let object = value.object, object.count <= Self.mostItems else {
            log.add(
                value.object == nil ? .wrongType : .tooMany, at: value.offset,
                "expected an object with at most \(Self.mostItems) members")
            return memory.store([])
        }
        if object.isEmpty { log.add(.badValue, at: value.offset, "expected at least one name") }
        return memory.store(
            object.compactMap { member in
                guard let platform = member.value.string, Self.platforms.contains(platform) else {
                    log.add(
                        .badValue, at: member.value.offset, "expected one of \(RuleFileLog.list(Self.platforms))")
                    return nil
                }
                return PlatformNameImage(name: compiler.text(member.name), platform: compiler.text(platform))
            })
    }

    private mutating func surfaces(_ value: JSONValue?) -> VendorSurfaces {
        var surfaces: VendorSurfaces = []
        let expected = "expected a list of `apple`, `android`, and `web`, or only `record`"
        for item in items(value, "on") {
            guard let named = VendorSurfaces.named.first(where: { $0.name == item.string }) else {
                log.add(item.string == nil ? .wrongType : .badValue, at: item.offset, expected)
                continue
            }
            if surfaces.contains(named.surface) { log.add(.duplicate, at: item.offset, expected) }
            surfaces.insert(named.surface)
        }
        if surfaces.contains(.record) && surfaces != .record || value?.array?.isEmpty == true {
            log.add(.badValue, at: value?.offset ?? 0, expected)
        }
        return surfaces
    }

    private mutating func embedded(_ value: JSONValue?) -> [JSONPath] {
        let all = items(value, "embedded", most: Self.mostEmbedded).compactMap { pointer($0) }
        for (index, pointer) in all.enumerated() {
            let outer = all.enumerated().first { $0.offset != index && pointer.tokens.starts(with: $0.element.tokens) }
            guard let outer else { continue }
            let offset = value?.array.flatMap { index < $0.count ? $0[index].offset : nil } ?? value?.offset
            log.add(
                .badValue, at: offset ?? 0,
                "expected a pointer that does not go through the other one `\(outer.element.text)`")
        }
        return all
    }

    // MARK: Rules

    /// Returns rules.
    ///
    /// - Parameter special: The condition without a pointer that these rules can have, `prefix` or `shown`, or nil.
    private mutating func rules(_ value: JSONValue?, _ name: String, special: String? = nil) -> RuleImages {
        memory.store(items(value, name, most: Self.mostParts).map { conditions($0, name, special: special) })
    }

    private mutating func conditions(_ value: JSONValue?, _ name: String, special: String? = nil) -> ConditionImages {
        memory.store(
            items(value, name, fewest: 1, most: Self.mostParts).compactMap { condition($0, special: special) })
    }

    /// Reports lists without a condition for a value that is present.
    private mutating func checkPositive(_ rules: RuleImages, _ value: JSONValue?) {
        for (index, list) in rules.enumerated()
        where !list.isEmpty && !list.contains(where: { $0.kind != .absent && $0.kind != .shown }) {
            log.add(
                .badValue, at: value?.array?[index].offset ?? 0, "expected a condition for a value that is present")
        }
    }

    /// Returns rules whose lists have a place that a note can name.
    private mutating func customActions(_ value: JSONValue?) -> RuleImages {
        let rules = rules(value, "customActions")
        checkPositive(rules, value)
        return rules
    }

    private mutating func condition(_ value: JSONValue, special: String?) -> ConditionImage? {
        var condition = ConditionImage()
        if value.string != nil {
            guard let place = place(value) else { return nil }
            condition.pointer = place
            return condition
        }
        if let special, let test = value[special] {
            guard members(value, "a condition", required: [special]) else { return nil }
            if special == "shown" {
                guard let isShown = bool(test) else { return nil }
                (condition.kind, condition.isShown) = (.shown, isShown)
                return condition
            }
            guard let prefix = text(test, bytes: 1...Self.mostPrefixBytes) else { return nil }
            (condition.kind, condition.prefix) = (.prefix, compiler.prefix(prefix))
            return condition
        }
        let optional = ["is", "equals", "notEquals", "startsWith", "empty", "absent"]
        guard members(value, "a condition", required: ["at"], optional: optional) else { return nil }
        let place = place(value["at"])
        condition.pointer = place ?? PointerImage()
        if let absent = value["absent"] {
            if bool(absent) == false { log.add(.badValue, at: absent.offset, "expected true") }
            if (value.object?.count ?? 0) > 2 {
                log.add(.badValue, at: absent.offset, "expected no other test beside `absent`")
            }
            condition.kind = .absent
        } else {
            readTests(value, &condition)
        }
        return place == nil ? nil : condition
    }

    private static let valueKinds: [String: JSONTape.Kind] = [
        "object": .object, "array": .array, "string": .string, "number": .number, "boolean": .boolean,
    ]

    private mutating func readTests(_ value: JSONValue, _ condition: inout ConditionImage) {
        if let kind = value["is"] {
            condition.valueKind = kind.string.flatMap { Self.valueKinds[$0] }
            if condition.valueKind == nil {
                let expected = "expected `object`, `array`, `string`, `number`, or `boolean`"
                log.add(kind.string == nil ? .wrongType : .badValue, at: kind.offset, expected)
            }
        }
        condition.equals = texts(value["equals"], "equals")
        condition.hasEquals = value["equals"] != nil
        condition.notEquals = texts(value["notEquals"], "notEquals")
        condition.start = text(value["startsWith"], bytes: 1...Self.mostPointerBytes).map { compiler.text($0) }
        condition.empty = value["empty"].flatMap { bool($0) }
        let isPlain =
            condition.valueKind == nil && !condition.hasEquals && value["notEquals"] == nil && condition.start == nil
            && condition.empty == nil
        if !isPlain { condition.kind = .tests }
    }

    private mutating func texts(_ value: JSONValue?, _ name: String) -> UnsafeBufferPointer<ByteView> {
        let texts = items(value, name, fewest: 1).compactMap { text($0, bytes: 0...Self.mostPointerBytes) }
        return memory.store(texts.map { compiler.text($0) })
    }

    // MARK: Links and buttons

    private mutating func links(_ value: JSONValue?, allowsPlatform: Bool) -> UnsafeBufferPointer<LinkImage> {
        memory.store(
            items(value, "links", most: Self.mostParts).compactMap {
                link($0, optional: ["when", "wrapped"] + (allowsPlatform ? ["platform"] : []))
            })
    }

    private mutating func link(_ value: JSONValue, optional: [String]) -> LinkImage? {
        if value.string != nil { return place(value).map { LinkImage(pointer: $0) } }
        guard members(value, "a link", required: ["at"], optional: optional) else { return nil }
        guard let place = place(value["at"]) else { return nil }
        var link = LinkImage(pointer: place)
        link.conditions = conditions(value["when"], "when")
        if let name = value["platform"] {
            let platforms = VendorSurfaces.named + [("unknown", .unknown)]
            link.platform = platforms.first { $0.name == name.string && $0.surface != .record }?.surface ?? []
            if link.platform.isEmpty {
                log.add(.badValue, at: name.offset, "expected `apple`, `android`, `web`, or `unknown`")
            }
        }
        if let wrapped = value["wrapped"] { readWrapper(wrapped, of: &link) }
        return link
    }

    private mutating func readWrapper(_ value: JSONValue, of link: inout LinkImage) {
        guard members(value, "`wrapped`", required: ["scheme", "after"]),
            let scheme = text(value["scheme"], bytes: 1...Self.mostWordBytes),
            let segment = text(value["after"], bytes: 1...Self.mostWordBytes)
        else { return }
        link.wrapperScheme = compiler.text(scheme)
        link.wrapperSegment = compiler.text(segment)
        if !WebURL.isScheme(link.wrapperScheme) || RuleFileProblem.isUnsafeScheme(scheme) {
            let expected = "expected the scheme of links, not one of the system or the browser"
            log.add(.badValue, "scheme", of: value, expected)
        }
    }

    private mutating func buttons(_ value: JSONValue, allowsPlatform: Bool) -> ButtonSetImage? {
        let common = ["require", "links", "opensApp", "customActions", "otherwise"]
        let kinds: [(kind: ButtonImage.Kind, name: String, id: [String], optional: [String])] = [
            (.list, "list", ["id"], ["limit"]), (.object, "object", ["id"], []), (.members, "members", [], []),
        ]
        for (kind, name, id, optional) in kinds where value[name] != nil {
            guard members(value, "buttons", required: [name] + id, optional: common + optional),
                let place = place(value[name])
            else { return nil }
            isInside = true
            defer { isInside = false }
            guard let id = id.isEmpty ? PointerImage() : self.place(value["id"]) else { return nil }
            let button = ButtonImage(kind: kind, place: place, id: id)
            return ButtonSetImage(descriptions: memory.store([description(value, button, allowsPlatform)]), first: 0)
        }
        guard members(value, "buttons", required: ["numbered", "id"], optional: common) else { return nil }
        return numbered(value, allowsPlatform)
    }

    private mutating func numbered(_ value: JSONValue, _ allowsPlatform: Bool) -> ButtonSetImage? {
        guard let range = value["numbered"], members(range, "`numbered`", required: ["from", "count"]) else {
            return nil
        }
        guard let from = range["from"]?.integer, (0...Self.mostFirstNumber).contains(from),
            let count = range["count"]?.integer, (1...Int64(ButtonImage.most)).contains(count)
        else {
            log.add(
                .badValue, at: range.offset,
                "expected `from` of 0 to \(Self.mostFirstNumber), and `count` of 1 to \(ButtonImage.most)")
            return nil
        }
        if value["id"]?.string?.contains(Self.placeholder) == false {
            log.add(.badValue, "id", of: value, "expected `{N}` in the pointer to the id")
        }
        var descriptions: [ButtonImage] = []
        // The descriptions are read once per number.
        log.reportsOnce = true
        defer { (number, log.reportsOnce) = (nil, false) }
        for index in Int(from)..<Int(from + count) {
            number = index
            guard let id = place(value["id"]) else { return nil }
            descriptions.append(description(value, ButtonImage(kind: .numbered, id: id), allowsPlatform))
        }
        return ButtonSetImage(descriptions: memory.store(descriptions), first: Int(from))
    }

    private mutating func description(_ value: JSONValue, _ button: ButtonImage, _ allowsPlatform: Bool) -> ButtonImage
    {
        var button = button
        button.hasRequirements = value["require"] != nil
        button.requirements = rules(value["require"], "require")
        button.links = links(value["links"], allowsPlatform: allowsPlatform)
        button.opensApp = rules(value["opensApp"], "opensApp")
        button.customActions = customActions(value["customActions"])
        if let limit = value["limit"] {
            if let count = limit.integer, (1...Int64(ButtonImage.most)).contains(count) {
                button.limit = Int(count)
            } else {
                log.add(.badValue, at: limit.offset, "expected a number of 1 to \(ButtonImage.most)")
            }
        }
        if let otherwise = value["otherwise"] {
            if otherwise.string != "body" { log.add(.badValue, at: otherwise.offset, "expected `body`") }
            button.opensBody = true
        }
        return button
    }

    // MARK: Examples

    /// Checks the members of an example, which `VendorTable.check` runs.
    private mutating func checkExample(_ value: JSONValue) {
        let texts = ["platform", "payloadType", "action", "link", "reason", "pointer", "message", "campaign"]
        guard members(value, "an example", required: ["payload"], optional: texts + ["notes"]) else { return }
        if let payload = value["payload"], payload.object == nil {
            log.add(.wrongType, at: payload.offset, "expected `payload` to be an object")
        }
        for name in texts {
            if let text = value[name], text.string == nil { log.add(.wrongType, at: text.offset, "expected a string") }
        }
        for (name, words) in [("payloadType", ["apns", "fcm"]), ("reason", ["no_link", "open_app"])] {
            guard let word = value[name], let text = word.string, !words.contains(text) else { continue }
            log.refuse(word, words, "expected \(RuleFileLog.list(words, " or "))")
        }
        if (value["link"] == nil) == (value["reason"] == nil) {
            log.add(.badValue, at: value.offset, "expected either `link` or `reason`")
        }
        for note in items(value["notes"], "notes") where note.string == nil {
            log.add(.wrongType, at: note.offset, "expected a string")
        }
    }
}
