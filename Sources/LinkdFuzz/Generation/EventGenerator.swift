/// A generator of events as written by several producers. Each producer has a form, from which some of its records
/// deviate.
///
/// The reader learns the forms of records and reads later records with them. Therefore the records repeat a form for a
/// while and then change one thing: a repeated name, an escape, another type, an unusual length, or a new name.
package struct EventMaker {
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
        var style: TextMaker.Style
        /// The inverse of the share of records that deviate from the form.
        var betrayal: Int
        /// The number of names in each object that no other record has.
        var novel = 0
        /// A Boolean value that indicates whether the first name of each object is repeated at its end.
        var isTwice = false
    }

    let words: Vocabulary
    let links: LinkMaker
    private var producers: [Producer] = []
    /// The number of the record, for names that no other record has.
    private var number = 0

    /// Creates a generator of events with the words of a table.
    package init(_ words: Vocabulary) {
        self.words = words
        links = LinkMaker(words)
    }

    /// Starts a phase with new producers, which take turns.
    ///
    /// - Parameters:
    ///   - count: The number of producers.
    ///   - betrayal: The inverse of the share of records that deviate from the form of their producer.
    package mutating func begin(producers count: Int, betrayal: Int, _ dice: inout Dice) {
        producers = (0..<count).map { _ in
            Producer(
                members: Self.unique(members(&dice)), device: Self.unique(deviceMembers(&dice)), style: .any(&dice),
                betrayal: betrayal)
        }
    }

    /// Starts a phase in which all records begin with a known name, followed by new names.
    ///
    /// - Parameter isTwice: A Boolean value that indicates whether the first name is repeated at the end.
    package mutating func beginNames(isTwice: Bool, _ dice: inout Dice) {
        begin(producers: 1, betrayal: 1_000, &dice)
        for index in producers.indices {
            producers[index].novel = 1 + dice.below(5)
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
    package mutating func record(_ dice: inout Dice) -> [UInt8] {
        if producers.isEmpty { begin(producers: 1 + dice.below(4), betrayal: 8, &dice) }
        number += 1
        if dice.one(in: 60) { return bareLink(&dice) }
        let producer = dice.pick(producers)
        var text = TextMaker()
        let betrays = dice.one(in: producer.betrayal)
        let chosen = betrays ? betrayed(producer.members, &dice) : producer.members
        write(chosen, of: producer, betrays: betrays, into: &text, &dice)
        if betrays, dice.one(in: 4) { damage(&text.bytes, &dice) }
        // Corpus files store one record per line, so a record has no line feed.
        return text.bytes.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: "\r") : $0 }
    }

    private func bareLink(_ dice: inout Dice) -> [UInt8] {
        Array(links.link(&dice).utf8).filter { $0 != UInt8(ascii: "\n") }
    }

    // MARK: Forms

    private func members(_ dice: inout Dice) -> [Member] {
        var members: [Member] = []
        if !dice.one(in: 4) { members.append(Member(name: "id", kind: .id)) }
        if dice.one(in: 2) { members.append(Member(name: "application", kind: .application)) }
        switch dice.below(12) {
        case 0: members += [Member(name: "path", kind: .path), Member(name: "mode", kind: .mode)]
        case 1: members += [Member(name: "route", kind: .route), Member(name: "params", kind: .params)]
        case 2, 3, 4: members.append(Member(name: "payload", kind: .payload))
        case 5: members += [Member(name: "aps", kind: .anything), Member(name: "data", kind: .payload)]
        default: members.append(Member(name: "link", kind: .link))
        }
        if !dice.one(in: 5) {
            members.append(
                dice.one(in: 4) ? Member(name: "devices", kind: .devices) : Member(name: "device", kind: .device))
        }
        let more: [Member] = [
            Member(name: "campaign", kind: .text), Member(name: "sent", kind: .text),
            Member(name: "expires", kind: .expires),
            Member(name: "action", kind: .action), Member(name: "payloadType", kind: .payloadType),
            Member(name: "x", kind: .anything), Member(name: "a rather long name that no slot can hold", kind: .text),
            Member(name: "u\(dice.below(300))", kind: .other), Member(name: "кот", kind: .text),
        ]
        for _ in 0..<dice.below(5) { members.insert(dice.pick(more), at: dice.below(members.count + 1)) }
        if dice.one(in: 10) { for index in 0..<30 { members.append(Member(name: "m\(index)", kind: .other)) } }
        return dice.one(in: 3) ? members.shuffled(using: &dice) : members
    }

    private func deviceMembers(_ dice: inout Dice) -> [Member] {
        var members = [Member(name: "id", kind: .deviceID)]
        let more: [Member] = [
            Member(name: "platform", kind: .platform), Member(name: "app", kind: .version),
            Member(name: "os", kind: .version), Member(name: "locale", kind: .locale),
            Member(name: "region", kind: .region), Member(name: "coordinator", kind: .coordinator),
            Member(name: "capabilities", kind: .list), Member(name: "claims", kind: .list),
            Member(name: "attributes", kind: .attributes), Member(name: "zz", kind: .text),
            Member(name: "u\(dice.below(300))", kind: .other),
        ]
        for _ in 0..<dice.below(8) { members.append(dice.pick(more)) }
        return dice.one(in: 3) ? members.shuffled(using: &dice) : members
    }

    /// Returns a form with one deviation.
    private func betrayed(_ members: [Member], _ dice: inout Dice) -> [Member] {
        var members = members
        if members.isEmpty { return [Member(name: "link", kind: .link)] }
        let place = dice.below(members.count)
        switch dice.below(8) {
        case 0: members.remove(at: place)
        case 1: members.append(members[place])
        case 2: members.insert(Member(name: "zz", kind: .text), at: 0); members.append(Member(name: "zz", kind: .text))
        case 3:
            for index in 0..<(1 + dice.below(4)) {
                members.insert(Member(name: "u\(number)_\(index)", kind: .other), at: min(place + index, members.count))
            }
        case 4: members.swapAt(place, members.count - 1)
        case 5: members[place].kind = .anything
        case 6: members[place].name = dice.pick(["link", "id", "payload", "devices", "aps", members[place].name + "x"])
        default: break
        }
        return members
    }

    // MARK: Output

    private func write(
        _ members: [Member], of producer: Producer, betrays: Bool, into text: inout TextMaker, _ dice: inout Dice
    ) {
        let style = producer.style
        let members = withNames(members, of: producer, isTwice: producer.isTwice && dice.one(in: 2))
        text.raw("{" + style.inside)
        let odd = betrays ? dice.below(members.count * 2) : -1
        for (index, member) in members.enumerated() {
            if index > 0 { text.raw("," + style.afterComma) }
            if index == odd, dice.one(in: 3) { text.escaped(member.name, &dice) } else { text.string(member.name) }
            text.raw(":" + style.afterColon)
            value(member.kind, of: producer, isOdd: index == odd, into: &text, &dice)
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
        _ kind: Kind, of producer: Producer, isOdd: Bool, into text: inout TextMaker, _ dice: inout Dice
    ) {
        switch kind {
        case .device: device(of: producer, isOdd: isOdd, into: &text, &dice)
        case .devices:
            text.raw("[")
            for index in 0...(dice.one(in: 30) ? dice.below(60) : dice.below(4)) {
                if index > 0 { text.raw(",") }
                device(of: producer, isOdd: isOdd && dice.one(in: 2), into: &text, &dice)
            }
            text.raw("]")
        case .list: list(isOdd: isOdd, into: &text, &dice)
        case .attributes: attributes(isOdd: isOdd, isNovel: producer.novel > 0, into: &text, &dice)
        case .payload: payload(into: &text, &dice)
        case .params: params(into: &text, &dice)
        case .anything: text.anything(&dice)
        case .other:
            if dice.one(in: 3) { text.anything(&dice, depth: 1) } else { text.raw(dice.pick(["0", "\"1\"", "1"])) }
        default:
            let value = plain(kind, &dice)
            if isOdd, dice.one(in: 3) { return text.anything(&dice, depth: 1) }
            if isOdd { text.escaped(value + dice.pick(["", "é", "e\u{301}"]), &dice) } else { text.string(value) }
        }
    }

    /// Returns the string value of a member.
    private func plain(_ kind: Kind, _ dice: inout Dice) -> String {
        switch kind {
        case .id: "e-" + String(dice.below(100_000))
        case .link: links.link(&dice)
        case .path: dice.pick(words.paths, else: "/a") + dice.pick(["", "/", "/x", "//a"])
        case .mode: dice.pick(["append", "replace", "reuse"])
        case .route: dice.pick(words.routes, else: "item")
        case .payloadType: dice.pick(["apns", "fcm"])
        case .application: dice.pick(words.applications, else: "com.a")
        case .expires: dice.pick(["2020-01-01T00:00:00Z", "2036-11-20T10:00:00+01:00", "2026-11-20T10:00:00.5Z"])
        case .deviceID: dice.one(in: 40) ? String(repeating: "d", count: 255 + dice.below(3)) : "d-\(dice.below(300))"
        case .platform: dice.pick(["ios", "android", "iOS", "web", "x"])
        case .version: dice.pick(["6.1.0", "4.0.0", "3.9.12", "2.0.0-beta.2", "6", "", "x", "6.1.0+7"])
        case .locale: dice.pick(["en-GB", "ru", "de_DE", "EN"])
        case .region: dice.pick(["GB", "us", "DE"])
        case .coordinator: String(dice.pick(words.paths, else: "/a").dropFirst().prefix { $0 != "/" })
        default: dice.pick(["spring-sale", "open", "", "2026-11-20T10:00:00Z", "win-back"])
        }
    }

    private func device(of producer: Producer, isOdd: Bool, into text: inout TextMaker, _ dice: inout Dice) {
        let shape = isOdd ? betrayed(producer.device, &dice) : producer.device
        let members = withNames(shape, of: producer, isTwice: producer.isTwice)
        text.raw("{")
        let odd = isOdd ? dice.below(members.count * 2) : -1
        for (index, member) in members.enumerated() {
            if index > 0 { text.raw("," + producer.style.afterComma) }
            text.string(member.name)
            text.raw(":" + producer.style.afterColon)
            value(member.kind, of: producer, isOdd: index == odd, into: &text, &dice)
        }
        text.raw("}")
    }

    private func list(isOdd: Bool, into text: inout TextMaker, _ dice: inout Dice) {
        text.raw("[")
        for index in 0..<(isOdd && dice.one(in: 8) ? 255 + dice.below(4) : dice.below(5)) {
            if index > 0 { text.raw(",") }
            text.string(index < 5 ? dice.pick(words.values, else: "session") : "c\(index)")
        }
        text.raw("]")
    }

    private func attributes(isOdd: Bool, isNovel: Bool, into text: inout TextMaker, _ dice: inout Dice) {
        text.raw("{")
        for index in 0..<(isOdd && dice.one(in: 8) ? 255 + dice.below(4) : dice.below(5)) {
            if index > 0 { text.raw(",") }
            // The second name is new if the producer writes new names.
            let isKnown = index == 0 ? dice.one(in: 2) : dice.one(in: 8)
            let name = "u\(isOdd || (isNovel && index % 3 > 0) ? number : 0)_\(isNovel && index > 3 ? 0 : index)"
            text.string(isKnown ? dice.pick(words.attributes, else: "tier") : name)
            text.raw(":")
            text.string(dice.pick(words.values, else: "gold"))
        }
        text.raw("}")
    }

    private func payload(into text: inout TextMaker, _ dice: inout Dice) {
        let pointer = dice.pick(words.pointers, else: "/aps/link").split(separator: "/").map(String.init)
        text.raw("{")
        if dice.one(in: 2), pointer.first != "aps" { text.raw("\"aps\":{\"alert\":\"x\"},") }
        for token in pointer.dropLast() { text.raw("\"\(token)\":{") }
        if dice.one(in: 3) { text.raw("\"x\":"); text.anything(&dice, depth: 2); text.raw(",") }
        text.string(pointer.last ?? "link")
        text.raw(":")
        if pointer.last == "params" {
            params(into: &text, &dice)
        } else {
            let link = pointer.last == "route" ? dice.pick(words.routes, else: "a") : links.link(&dice)
            if dice.one(in: 2) { text.escaped(link, &dice) } else { text.string(link) }
        }
        text.raw(String(repeating: "}", count: max(pointer.count - 1, 0)) + "}")
    }

    private func params(into text: inout TextMaker, _ dice: inout Dice) {
        text.raw("{")
        for index in 0..<dice.below(4) {
            if index > 0 { text.raw(",") }
            text.string(dice.pick(words.names, else: "id") + (dice.one(in: 3) ? String(index) : ""))
            text.raw(":")
            if dice.one(in: 4) { text.anything(&dice, depth: 1) } else { text.string(links.text(&dice)) }
        }
        text.raw("}")
    }

    /// Damages bytes: removes, repeats, or replaces some.
    private func damage(_ bytes: inout [UInt8], _ dice: inout Dice) {
        guard bytes.count > 1 else { return }
        let place = dice.below(bytes.count)
        switch dice.below(6) {
        case 0: bytes.removeLast(1 + dice.below(min(bytes.count - 1, 20)))
        case 1: bytes.append(dice.pick([0x7D, 0x20, 0x2C, 0x78]))
        case 2: bytes[place] = UInt8(truncatingIfNeeded: dice.next())
        case 3: bytes[place] = dice.pick([0x22, 0x5C, 0x7B, 0x7D, 0x2C, 0x3A, 0x00, 0xC3, 0xED])
        case 4: bytes.insert(0x20, at: 0)
        default: bytes.replaceSubrange(place..<min(bytes.count, place + 3), with: [])
        }
    }
}
