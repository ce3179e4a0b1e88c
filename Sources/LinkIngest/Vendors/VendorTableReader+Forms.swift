internal import StrictJSON

// Reads the forms of a vendor: rules, links, and buttons.
extension VendorTableReader {
    private static let formMembers = [
        "embedded", "silent", "links", "opensApp", "customActions", "buttons", "message", "campaign",
    ]
    private static let recordMembers = [
        "event", "device", "devices", "platform", "platformNames", "action", "broadcast",
    ]

    mutating func form(_ value: JSONValue) -> VendorForm? {
        guard value.object != nil else {
            add(.wrongType, value.offset, "expected a form to be an object")
            return nil
        }
        var form = VendorForm()
        form.surfaces = surfaces(value["on"])
        let isRecord = form.surfaces == .record
        let required = ["on", "marks"] + (isRecord ? ["envelope"] : [])
        let optional = Self.formMembers + (isRecord ? Self.recordMembers : [])
        guard members(value, "a form", required: required, optional: optional) else { return nil }
        form.marks = rules(value["marks"], "marks", special: "prefix")
        if value["marks"]?.array?.isEmpty == true {
            add(.badValue, value["marks"]?.offset ?? 0, "expected at least one list of conditions")
        }
        checkPositive(form.marks, value["marks"])
        form.embedded = embedded(value["embedded"])
        form.silent = rules(value["silent"], "silent", special: "shown")
        form.links = links(value["links"], allowsPlatform: isRecord)
        form.opensApp = rules(value["opensApp"], "opensApp")
        form.customActions = customActions(value["customActions"])
        form.buttons = items(value["buttons"], "buttons", most: Self.mostButtons).compactMap {
            buttons($0, allowsPlatform: isRecord)
        }
        form.message = pointers(value["message"], "message")
        form.campaign = pointers(value["campaign"], "campaign")
        if isRecord { form.record = record(value) }
        return form
    }

    private mutating func record(_ value: JSONValue) -> VendorRecordForm? {
        let expected = "expected the kind of an envelope, 1 to 32 characters: a-z and _"
        let envelope = name(value["envelope"], expected) { Self.isLowercase($0) || $0 == UInt8(ascii: "_") }
        if let envelope, !envelopes.insert(envelope).inserted {
            add(.duplicate, value["envelope"]?.offset ?? 0, "expected a kind that no other form has")
        }
        return VendorRecordForm(
            envelope: envelope ?? "", event: pointers(value["event"], "event"),
            device: pointers(value["device"], "device"), devices: pointers(value["devices"], "devices"),
            platform: pointers(value["platform"], "platform"), action: pointers(value["action"], "action"),
            platformNames: platformNames(value["platformNames"]), broadcast: rules(value["broadcast"], "broadcast"))
    }

    /// The platforms that a name can stand for.
    private static let platforms = [
        "ios", "ipados", "macos", "tvos", "watchos", "visionos", "android", "web",
    ]

    private mutating func platformNames(_ value: JSONValue?) -> [(name: String, platform: String)] {
        guard let value else { return [] }
        guard let object = value.object, object.count <= Self.mostItems else {
            add(
                value.object == nil ? .wrongType : .tooMany, value.offset,
                "expected an object with at most \(Self.mostItems) members")
            return []
        }
        if object.isEmpty { add(.badValue, value.offset, "expected at least one name") }
        return object.compactMap { member in
            guard let platform = member.value.string, Self.platforms.contains(platform) else {
                let names = Self.platforms.map { "`\($0)`" }.joined(separator: ", ")
                add(.badValue, member.value.offset, "expected one of \(names)")
                return nil
            }
            return (member.name, platform)
        }
    }

    private mutating func surfaces(_ value: JSONValue?) -> VendorSurfaces {
        var surfaces: VendorSurfaces = []
        let expected = "expected a list of `apple`, `android`, and `web`, or only `record`"
        for item in items(value, "on") {
            guard let named = VendorSurfaces.named.first(where: { $0.name == item.string }) else {
                add(item.string == nil ? .wrongType : .badValue, item.offset, expected)
                continue
            }
            if surfaces.contains(named.surface) { add(.duplicate, item.offset, expected) }
            surfaces.insert(named.surface)
        }
        if surfaces.contains(.record) && surfaces != .record || value?.array?.isEmpty == true {
            add(.badValue, value?.offset ?? 0, expected)
        }
        return surfaces
    }

    private mutating func embedded(_ value: JSONValue?) -> [VendorPointer] {
        let all = pointers(value, "embedded", most: Self.mostEmbedded)
        for (index, pointer) in all.enumerated() {
            guard let outer = all.enumerated().first(where: { $0.offset != index && $0.element.isPrefix(of: pointer) })
            else { continue }
            let offset = value?.array.flatMap { index < $0.count ? $0[index].offset : nil } ?? value?.offset
            add(
                .badValue, offset ?? 0,
                "expected a pointer that does not go through the other one `\(outer.element.text)`")
        }
        return all
    }

    // MARK: Rules

    /// Returns rules.
    ///
    /// - Parameter special: The condition without a pointer that these rules can have, `prefix` or `shown`, or nil.
    private mutating func rules(_ value: JSONValue?, _ name: String, special: String? = nil) -> VendorRules {
        items(value, name, most: Self.mostParts).map { conditions($0, name, special: special) }
    }

    private mutating func conditions(
        _ value: JSONValue?, _ name: String, special: String? = nil
    ) -> [VendorCondition] {
        items(value, name, fewest: 1, most: Self.mostParts).compactMap { condition($0, special: special) }
    }

    /// Reports lists without a condition for a value that is present.
    private mutating func checkPositive(_ rules: VendorRules, _ value: JSONValue?) {
        for (index, list) in rules.enumerated() where !list.isEmpty && !list.contains(where: \.isPositive) {
            add(.badValue, value?.array?[index].offset ?? 0, "expected a condition for a value that is present")
        }
    }

    /// Returns rules whose lists have a place that a note can name.
    private mutating func customActions(_ value: JSONValue?) -> VendorRules {
        let rules = rules(value, "customActions")
        checkPositive(rules, value)
        return rules
    }

    private mutating func condition(_ value: JSONValue, special: String?) -> VendorCondition? {
        if value.string != nil { return pointer(value).map { .present($0) } }
        if let special, let test = value[special] {
            guard members(value, "a condition", required: [special]) else { return nil }
            if special == "shown" { return bool(test).map { .shown($0) } }
            return text(test, bytes: 1...Self.mostPrefixBytes).map { .prefix($0) }
        }
        let optional = ["is", "equals", "notEquals", "startsWith", "empty", "absent"]
        guard members(value, "a condition", required: ["at"], optional: optional) else { return nil }
        let place = pointer(value["at"])
        if let absent = value["absent"] {
            if bool(absent) == false { add(.badValue, absent.offset, "expected true") }
            if (value.object?.count ?? 0) > 2 {
                add(.badValue, absent.offset, "expected no other test beside `absent`")
            }
            return place.map { .absent($0) }
        }
        let tests = tests(value)
        guard let place else { return nil }
        let isPlain =
            tests.kind == nil && tests.equals == nil && tests.notEquals == nil && tests.start == nil
            && tests.empty == nil
        return isPlain ? .present(place) : .tests(place, tests)
    }

    private mutating func tests(_ value: JSONValue) -> VendorTests {
        var tests = VendorTests()
        if let kind = value["is"] {
            switch kind.string {
            case "object": tests.kind = .object
            case "array": tests.kind = .array
            case "string": tests.kind = .string
            case "number": tests.kind = .number
            case "boolean": tests.kind = .boolean
            default:
                let expected = "expected `object`, `array`, `string`, `number`, or `boolean`"
                add(kind.string == nil ? .wrongType : .badValue, kind.offset, expected)
            }
        }
        tests.equals = value["equals"].map { texts($0, "equals") }
        tests.notEquals = value["notEquals"].map { texts($0, "notEquals") }
        if let start = value["startsWith"] { tests.start = text(start, bytes: 1...VendorPointer.mostBytes) }
        if let empty = value["empty"] { tests.empty = bool(empty) }
        return tests
    }

    private mutating func texts(_ value: JSONValue, _ name: String) -> [String] {
        items(value, name, fewest: 1).compactMap { text($0, bytes: 0...VendorPointer.mostBytes) }
    }

    // MARK: Links and buttons

    private mutating func links(_ value: JSONValue?, allowsPlatform: Bool) -> [VendorLink] {
        var links: [VendorLink] = []
        for item in items(value, "links", most: Self.mostParts) {
            if let link = link(item, allowsPlatform: allowsPlatform) { links.append(link) }
        }
        return links
    }

    private mutating func link(_ value: JSONValue, allowsPlatform: Bool) -> VendorLink? {
        if value.string != nil { return pointer(value).map { VendorLink(pointer: $0) } }
        let optional = allowsPlatform ? ["when", "wrapped", "platform"] : ["when", "wrapped"]
        guard members(value, "a link", required: ["at"], optional: optional) else { return nil }
        guard let place = pointer(value["at"]) else { return nil }
        var link = VendorLink(pointer: place)
        link.conditions = conditions(value["when"], "when")
        if let name = value["platform"] {
            let platforms = VendorSurfaces.named + [("unknown", .unknown)]
            link.platform = platforms.first { $0.name == name.string && $0.surface != .record }?.surface
            if link.platform == nil {
                add(.badValue, name.offset, "expected `apple`, `android`, `web`, or `unknown`")
            }
        }
        if let wrapped = value["wrapped"] { link.wrapper = wrapper(wrapped) }
        return link
    }

    private mutating func wrapper(_ value: JSONValue) -> VendorWrapper? {
        guard members(value, "`wrapped`", required: ["scheme", "after"]),
            let scheme = text(value["scheme"], bytes: 1...Self.mostWordBytes),
            let segment = text(value["after"], bytes: 1...Self.mostWordBytes)
        else { return nil }
        if !Self.isScheme(scheme) { add(.badValue, value["scheme"]?.offset ?? 0, "expected a scheme of a URL") }
        return VendorWrapper(scheme: scheme, segment: segment)
    }

    /// Returns a Boolean value that indicates whether a text is a scheme (RFC 3986, section 3.1).
    private static func isScheme(_ text: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { isLowercase(byte | 0x20) }
        return text.utf8.first.map(isLetter) == true
            && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0) }
    }

    private mutating func buttons(_ value: JSONValue, allowsPlatform: Bool) -> VendorButtonSet? {
        let common = ["require", "links", "opensApp", "customActions", "otherwise"]
        if value["list"] != nil {
            guard members(value, "buttons", required: ["list", "id"], optional: common + ["limit"]) else { return nil }
            guard let list = pointer(value["list"]), let id = pointer(value["id"]) else { return nil }
            return VendorButtonSet(descriptions: [description(value, .list(list, id: id), allowsPlatform)])
        }
        if value["object"] != nil {
            guard members(value, "buttons", required: ["object", "id"], optional: common) else { return nil }
            guard let place = pointer(value["object"]), let id = pointer(value["id"]) else { return nil }
            return VendorButtonSet(descriptions: [description(value, .object(place, id: id), allowsPlatform)])
        }
        if value["members"] != nil {
            guard members(value, "buttons", required: ["members"], optional: common) else { return nil }
            guard let place = pointer(value["members"]) else { return nil }
            return VendorButtonSet(descriptions: [description(value, .members(place), allowsPlatform)])
        }
        guard members(value, "buttons", required: ["numbered", "id"], optional: common) else { return nil }
        return numbered(value, allowsPlatform)
    }

    private mutating func numbered(_ value: JSONValue, _ allowsPlatform: Bool) -> VendorButtonSet? {
        guard let range = value["numbered"], members(range, "`numbered`", required: ["from", "count"]) else {
            return nil
        }
        guard let from = range["from"]?.integer, (0...Self.mostFirstNumber).contains(from),
            let count = range["count"]?.integer, (1...Int64(VendorButtons.most)).contains(count)
        else {
            add(
                .badValue, range.offset,
                "expected `from` of 0 to \(Self.mostFirstNumber), and `count` of 1 to \(VendorButtons.most)")
            return nil
        }
        if value["id"]?.string?.contains(Self.placeholder) == false {
            add(.badValue, value["id"]?.offset ?? 0, "expected `{N}` in the pointer to the id")
        }
        var set = VendorButtonSet(descriptions: [], first: Int(from))
        defer { number = nil }
        for index in Int(from)..<Int(from + count) {
            number = index
            guard let id = pointer(value["id"]) else { return nil }
            set.ids.append(id)
            set.descriptions.append(description(value, .numbered, allowsPlatform))
        }
        return set
    }

    private mutating func description(
        _ value: JSONValue, _ place: VendorButtons.Place, _ allowsPlatform: Bool
    ) -> VendorButtons {
        var buttons = VendorButtons(place: place)
        buttons.requirements = value["require"].map { rules($0, "require") }
        buttons.links = links(value["links"], allowsPlatform: allowsPlatform)
        buttons.opensApp = rules(value["opensApp"], "opensApp")
        buttons.customActions = customActions(value["customActions"])
        if let limit = value["limit"] {
            if let count = limit.integer, (1...Int64(VendorButtons.most)).contains(count) {
                buttons.limit = Int(count)
            } else {
                add(.badValue, limit.offset, "expected a number of 1 to \(VendorButtons.most)")
            }
        }
        if let otherwise = value["otherwise"] {
            if otherwise.string != "body" { add(.badValue, otherwise.offset, "expected `body`") }
            buttons.opensBody = true
        }
        return buttons
    }
}
