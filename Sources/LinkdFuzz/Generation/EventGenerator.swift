/// A generator of events as written by several producers.
///
/// Each producer has a form, from which some of its records deviate.
///
/// The reader learns the forms of records and reads later records with them. Therefore the records repeat a form for a
/// while and then change one thing: a repeated name, an escape, another type, an unusual length, or a new name.
struct EventGenerator {
    /// A member of an object, in the order in which a producer writes them.
    struct Member {
        var name: String
        var kind: Kind
    }

    /// The kind of a member's value.
    enum Kind {
        case id, link, path, mode, route, params, payload, payloadType, action, application, expires
        case device, devices, deviceID, platform, version, locale, region, coordinator, list, attributes
        case text, anything, other
    }

    /// A producer with the form of its records.
    struct Producer {
        var members: [Member]
        var device: [Member]
        var style: TextWriter.Style
        /// The inverse of the share of records that deviate from the form.
        var deviation: Int
        /// The number of names in each object that no other record has.
        var novel = 0
        /// A Boolean value that indicates whether the first name of each object is repeated at its end.
        var isTwice = false
    }

    let words: Vocabulary
    let links: LinkGenerator
    private var producers: [Producer] = []
    /// The number of the record, for names that no other record has.
    private var number = 0

    /// Creates a generator of events with the words of a table.
    init(_ words: Vocabulary) {
        self.words = words
        links = LinkGenerator(words)
    }

    /// Starts a phase with new producers, which take turns.
    ///
    /// - Parameters:
    ///   - count: The number of producers.
    ///   - deviation: The inverse of the share of records that deviate from the form of their producer.
    mutating func begin(producers count: Int, deviation: Int, _ random: inout RandomSource) {
        producers = (0..<count).map { _ in
            Producer(
                members: Self.unique(members(&random)), device: Self.unique(deviceMembers(&random)),
                style: .any(&random),
                deviation: deviation)
        }
    }

    /// Starts a phase in which all records begin with a known name, followed by new names.
    ///
    /// - Parameter isTwice: A Boolean value that indicates whether the first name is repeated at the end.
    mutating func beginNames(isTwice: Bool, _ random: inout RandomSource) {
        begin(producers: 1, deviation: 1_000, &random)
        for index in producers.indices {
            producers[index].novel = 1 + random.below(5)
            producers[index].isTwice = isTwice
            producers[index].members.insert(Member(name: "zz", kind: .text), at: 0)
            producers[index].device =
                [Member(name: "zz", kind: .text)] + producers[index].device.filter { $0.name != "zz" }
        }
    }

    private static func unique(_ members: [Member]) -> [Member] {
        var seen: Set<String> = []
        return members.filter { seen.insert($0.name).inserted }
    }

    /// Returns the next record of one of the producers.
    mutating func record(_ random: inout RandomSource) -> [UInt8] {
        if producers.isEmpty { begin(producers: 1 + random.below(4), deviation: 8, &random) }
        number += 1
        if random.one(in: 60) { return bareLink(&random) }
        let producer = random.pick(producers)
        var text = TextWriter()
        let deviates = random.one(in: producer.deviation)
        let chosen = deviates ? deviating(producer.members, &random) : producer.members
        write(chosen, of: producer, deviates: deviates, into: &text, &random)
        if deviates, random.one(in: 4) { damage(&text.bytes, &random) }
        // Corpus files store one record per line, so a record has no line feed.
        return text.bytes.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: "\r") : $0 }
    }

    private func bareLink(_ random: inout RandomSource) -> [UInt8] {
        Array(links.link(&random).utf8).filter { $0 != UInt8(ascii: "\n") }
    }

    // MARK: Forms

    private func form(_ members: KeyValuePairs<String, Kind>) -> [Member] {
        members.map { Member(name: $0.key, kind: $0.value) }
    }

    private func members(_ random: inout RandomSource) -> [Member] {
        var members: [Member] = []
        if !random.one(in: 4) { members.append(Member(name: "id", kind: .id)) }
        if random.one(in: 2) { members.append(Member(name: "application", kind: .application)) }
        switch random.below(12) {
        case 0: members += form(["path": .path, "mode": .mode])
        case 1: members += form(["route": .route, "params": .params])
        case 2, 3, 4: members.append(Member(name: "payload", kind: .payload))
        case 5: members += form(["aps": .anything, "data": .payload])
        default: members.append(Member(name: "link", kind: .link))
        }
        if !random.one(in: 5) {
            members.append(
                random.one(in: 4) ? Member(name: "devices", kind: .devices) : Member(name: "device", kind: .device))
        }
        let more = form([
            "campaign": .text, "sent": .text, "expires": .expires, "action": .action, "payloadType": .payloadType,
            "x": .anything, "a rather long name that no slot can hold": .text, "u\(random.below(300))": .other,
            "кот": .text,
        ])
        for _ in 0..<random.below(5) { members.insert(random.pick(more), at: random.below(members.count + 1)) }
        if random.one(in: 10) { for index in 0..<30 { members.append(Member(name: "m\(index)", kind: .other)) } }
        return random.one(in: 3) ? members.shuffled(using: &random) : members
    }

    private func deviceMembers(_ random: inout RandomSource) -> [Member] {
        var members = [Member(name: "id", kind: .deviceID)]
        let more = form([
            "platform": .platform, "app": .version, "os": .version, "locale": .locale, "region": .region,
            "coordinator": .coordinator, "capabilities": .list, "claims": .list, "attributes": .attributes, "zz": .text,
            "u\(random.below(300))": .other,
        ])
        for _ in 0..<random.below(8) { members.append(random.pick(more)) }
        return random.one(in: 3) ? members.shuffled(using: &random) : members
    }

    /// Returns a form with one deviation.
    private func deviating(_ members: [Member], _ random: inout RandomSource) -> [Member] {
        var members = members
        if members.isEmpty { return [Member(name: "link", kind: .link)] }
        let position = random.below(members.count)
        switch random.below(8) {
        case 0: members.remove(at: position)
        case 1: members.append(members[position])
        case 2: members.insert(Member(name: "zz", kind: .text), at: 0); members.append(Member(name: "zz", kind: .text))
        case 3:
            for index in 0..<(1 + random.below(4)) {
                members.insert(
                    Member(name: "u\(number)_\(index)", kind: .other), at: min(position + index, members.count))
            }
        case 4: members.swapAt(position, members.count - 1)
        case 5: members[position].kind = .anything
        case 6:
            members[position].name = random.pick([
                "link", "id", "payload", "devices", "aps", members[position].name + "x",
            ])
        default: break
        }
        return members
    }

    // MARK: Output

    private func write(
        _ members: [Member], of producer: Producer, deviates: Bool, into text: inout TextWriter,
        _ random: inout RandomSource
    ) {
        let style = producer.style
        let members = withNames(members, of: producer, isTwice: producer.isTwice && random.one(in: 2))
        text.raw("{" + style.inside)
        let odd = deviates ? random.below(members.count * 2) : -1
        for (index, member) in members.enumerated() {
            if index > 0 { text.raw("," + style.afterComma) }
            if index == odd, random.one(in: 3) { text.escaped(member.name, &random) } else { text.string(member.name) }
            text.raw(":" + style.afterColon)
            value(member.kind, of: producer, isOdd: index == odd, into: &text, &random)
        }
        text.raw(style.inside + "}")
    }

    /// Returns the members with new names after the first one.
    private func withNames(_ members: [Member], of producer: Producer, isTwice: Bool) -> [Member] {
        guard producer.novel > 0, let first = members.first else { return members }
        var members = members
        let novel = (0..<producer.novel).map { Member(name: "u\(number)_\($0)", kind: .other) }
        members.insert(contentsOf: novel, at: 1)
        if isTwice { members.insert(first, at: 1 + novel.count) }
        return members
    }

    private func value(
        _ kind: Kind, of producer: Producer, isOdd: Bool, into text: inout TextWriter, _ random: inout RandomSource
    ) {
        switch kind {
        case .device: device(of: producer, isOdd: isOdd, into: &text, &random)
        case .devices:
            text.raw("[")
            for index in 0...(random.one(in: 30) ? random.below(60) : random.below(4)) {
                if index > 0 { text.raw(",") }
                device(of: producer, isOdd: isOdd && random.one(in: 2), into: &text, &random)
            }
            text.raw("]")
        case .list: list(isOdd: isOdd, into: &text, &random)
        case .attributes: attributes(isOdd: isOdd, isNovel: producer.novel > 0, into: &text, &random)
        case .payload: payload(into: &text, &random)
        case .params: params(into: &text, &random)
        case .anything: text.anything(&random)
        case .other:
            if random.one(in: 3) {
                text.anything(&random, depth: 1)
            } else {
                text.raw(random.pick(["0", "\"1\"", "1"]))
            }
        default:
            let value = plain(kind, &random)
            if isOdd, random.one(in: 3) { return text.anything(&random, depth: 1) }
            if isOdd { text.escaped(value + random.pick(["", "é", "e\u{301}"]), &random) } else { text.string(value) }
        }
    }

    /// Returns the string value of a member.
    private func plain(_ kind: Kind, _ random: inout RandomSource) -> String {
        switch kind {
        case .id: "e-" + String(random.below(100_000))
        case .link: links.link(&random)
        case .path: random.pick(words.paths, else: "/a") + random.pick(["", "/", "/x", "//a"])
        case .mode: random.pick(["append", "replace", "reuse"])
        case .route: random.pick(words.routes, else: "item")
        case .payloadType: random.pick(["apns", "fcm"])
        case .application: random.pick(words.applications, else: "com.a")
        case .expires: random.pick(["2020-01-01T00:00:00Z", "2036-11-20T10:00:00+01:00", "2026-11-20T10:00:00.5Z"])
        case .deviceID:
            random.one(in: 40) ? String(repeating: "d", count: 255 + random.below(3)) : "d-\(random.below(300))"
        case .platform: random.pick(["ios", "android", "iOS", "web", "x"])
        case .version: random.pick(["6.1.0", "4.0.0", "3.9.12", "2.0.0-beta.2", "6", "", "x", "6.1.0+7"])
        case .locale: random.pick(["en-GB", "ru", "de_DE", "EN"])
        case .region: random.pick(["GB", "us", "DE"])
        case .coordinator: String(random.pick(words.paths, else: "/a").dropFirst().prefix { $0 != "/" })
        default: random.pick(["spring-sale", "open", "", "2026-11-20T10:00:00Z", "win-back"])
        }
    }

    private func device(of producer: Producer, isOdd: Bool, into text: inout TextWriter, _ random: inout RandomSource) {
        let members = isOdd ? deviating(producer.device, &random) : producer.device
        write(members, of: producer, deviates: isOdd, into: &text, &random)
    }

    private func list(isOdd: Bool, into text: inout TextWriter, _ random: inout RandomSource) {
        text.raw("[")
        for index in 0..<(isOdd && random.one(in: 8) ? 255 + random.below(4) : random.below(5)) {
            if index > 0 { text.raw(",") }
            text.string(index < 5 ? random.pick(words.values, else: "session") : "c\(index)")
        }
        text.raw("]")
    }

    private func attributes(isOdd: Bool, isNovel: Bool, into text: inout TextWriter, _ random: inout RandomSource) {
        text.raw("{")
        for index in 0..<(isOdd && random.one(in: 8) ? 255 + random.below(4) : random.below(5)) {
            if index > 0 { text.raw(",") }
            // The second name is new if the producer writes new names.
            let isKnown = index == 0 ? random.one(in: 2) : random.one(in: 8)
            let name = "u\(isOdd || (isNovel && index % 3 > 0) ? number : 0)_\(isNovel && index > 3 ? 0 : index)"
            text.string(isKnown ? random.pick(words.attributes, else: "tier") : name)
            text.raw(":")
            text.string(random.pick(words.values, else: "gold"))
        }
        text.raw("}")
    }

    private func payload(into text: inout TextWriter, _ random: inout RandomSource) {
        let pointer = random.pick(words.pointers, else: "/aps/link").split(separator: "/").map(String.init)
        text.raw("{")
        if random.one(in: 2), pointer.first != "aps" { text.raw("\"aps\":{\"alert\":\"x\"},") }
        for token in pointer.dropLast() { text.raw("\"\(token)\":{") }
        if random.one(in: 3) { text.raw("\"x\":"); text.anything(&random, depth: 2); text.raw(",") }
        text.string(pointer.last ?? "link")
        text.raw(":")
        if pointer.last == "params" {
            params(into: &text, &random)
        } else {
            let link = pointer.last == "route" ? random.pick(words.routes, else: "a") : links.link(&random)
            if random.one(in: 2) { text.escaped(link, &random) } else { text.string(link) }
        }
        text.raw(String(repeating: "}", count: max(pointer.count - 1, 0)) + "}")
    }

    private func params(into text: inout TextWriter, _ random: inout RandomSource) {
        text.raw("{")
        for index in 0..<random.below(4) {
            if index > 0 { text.raw(",") }
            text.string(random.pick(words.names, else: "id") + (random.one(in: 3) ? String(index) : ""))
            text.raw(":")
            if random.one(in: 4) { text.anything(&random, depth: 1) } else { text.string(links.text(&random)) }
        }
        text.raw("}")
    }

    /// Damages bytes: removes, repeats, or replaces some.
    private func damage(_ bytes: inout [UInt8], _ random: inout RandomSource) {
        guard bytes.count > 1 else { return }
        let position = random.below(bytes.count)
        switch random.below(6) {
        case 0: bytes.removeLast(1 + random.below(min(bytes.count - 1, 20)))
        case 1: bytes.append(random.pick([0x7D, 0x20, 0x2C, 0x78]))
        case 2: bytes[position] = UInt8(truncatingIfNeeded: random.next())
        case 3: bytes[position] = random.pick([0x22, 0x5C, 0x7B, 0x7D, 0x2C, 0x3A, 0x00, 0xC3, 0xED])
        case 4: bytes.insert(0x20, at: 0)
        default: bytes.replaceSubrange(position..<min(bytes.count, position + 3), with: [])
        }
    }
}
