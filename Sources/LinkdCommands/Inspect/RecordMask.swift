internal import ByteStorage
internal import DecisionIndex
internal import LinkCoordinator
internal import StrictJSON

/// The replacement of what identifies people, for consoles with `--mask`.
///
/// Only the members of a list stay. The id of a device or event becomes a keyed hash. Equal ids have the same hash as
/// long as the process runs, so a filter can use a masked id. All other values are replaced.
struct RecordMask: Sendable {
    /// The text that stands for a value.
    static let replacement = "…"
    private static let prefix = "masked-"

    /// The hash of ids.
    let hash: KeyedHash
    /// A Boolean value that indicates whether anything is replaced.
    let isOn: Bool

    /// The members of a decision whose values stay, in addition to the members that `mask(decision:)` handles itself.
    private static let decisionMembers: Set<String> = [
        "decision", "supersedes", "application", "table", "route", "variant", "via", "outcome", "mode", "dismissModals",
        "reason", "guard",
    ]
    /// The beginnings of notes after which there are only names of the table, or nothing.
    private static let wholeNotes = [
        "device.", "repaired:query.", "dropped:", "parent dropped:", "unsupported:", "userinfo dropped",
        "empty segments ",
    ]
    /// The members of an entry of a stack whose values stay.
    private static let entryMembers: Set<String> = ["coordinator", "screen", "view", "present", "nav"]
    /// The members of an event whose values stay.
    private static let eventMembers: Set<String> = ["application", "mode", "route", "payloadType", "expires"]
    /// The facts about a device whose values stay.
    private static let deviceMembers: Set<String> = ["platform", "app", "os", "locale", "region"]
    /// The headers whose values stay.
    private static let headers: Set<String> = [
        "dlq.schema", "dlq.reason", "dlq.stage", "dlq.source.topic", "dlq.source.partition", "dlq.source.offset",
        "dlq.source.timestamp", "dlq.group", "dlq.instance", "dlq.app.version", "dlq.failed.at", "dlq.attempts",
        "dlq.replay.count", "dlq.item", "dlq.truncated", "content-type", "ce_specversion", "ce_type",
    ]

    /// Returns an id, or its hash.
    func id(_ text: String) -> String { isOn ? Self.text(of: hash(text)) : text }

    /// Returns the hash of an id that a person has typed or copied, which can be a masked one.
    func hash(ofTyped text: String) -> UInt64 {
        guard isOn, text.hasPrefix(Self.prefix), text.utf8.count == Self.prefix.utf8.count + 16,
            let hash = UInt64(text.dropFirst(Self.prefix.count), radix: 16), Self.text(of: hash) == text
        else { return hash(text) }
        return hash
    }

    private static func text(of hash: UInt64) -> String { prefix + hash.hexadecimal(digits: 16) }

    /// Returns a text that can contain values of a record, or nil.
    func text(_ text: String?) -> String? { isOn ? nil : text }

    /// Returns a value of a header.
    func header(_ name: String, _ value: String) -> String {
        guard isOn, !Self.headers.contains(name.lowercased()) else { return value }
        return name == "dlq.event" ? id(value) : Self.replacement
    }

    /// Returns a decision without what identifies people.
    func decision(_ value: JSONValue) -> JSONValue {
        guard isOn, value.object != nil else { return isOn ? masked : value }
        return value.mapMembers { member in
            switch member.name {
            case "device", "user", "event": masked(id: member.value)
            case "facts": facts(member.value)
            case "stack": member.value.mapElements(entry)
            case "notes": member.value.mapElements(note)
            case "resume": pick(member.value, ["claim", "mode", "ttl", "once"])
            case "context": context(member.value)
            case "path", "url", "notice", "detail": masked
            default: Self.decisionMembers.contains(member.name) ? member.value : nil
            }
        }
    }

    /// Returns an event without what identifies people.
    func event(_ value: JSONValue) -> JSONValue {
        guard isOn, value.object != nil else { return isOn ? masked : value }
        return value.mapMembers { member in
            switch member.name {
            case "id", "user": masked(id: member.value)
            case "device": device(member.value)
            case "devices": member.value.mapElements(device)
            case "link": member.value.string.map { string(origin($0)) } ?? masked
            default: Self.eventMembers.contains(member.name) ? single(member.value) : masked
            }
        }
    }

    /// Returns the scheme of a link, and the host if the scheme is `http` or `https`.
    ///
    /// In a link of an app's own scheme, such as `shop://product/42`, a capture can match the text after the slashes.
    func origin(_ link: String) -> String {
        guard isOn else { return link }
        let bytes = Array(link.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes.count > colon + 2,
            bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/"),
            Self.isScheme(bytes[..<colon])
        else { return Self.replacement }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self)
        guard ["http", "https"].contains(scheme.lowercased()) else { return scheme + "://" + Self.replacement }
        let start = colon + 3
        let end = bytes[start...].firstIndex { "/?#\\@".utf8.contains($0) } ?? bytes.count
        // The text before `@` is a user name, not a host.
        guard !bytes.contains(UInt8(ascii: "@")) else { return Self.replacement }
        return String(decoding: bytes[..<end], as: UTF8.self) + "/" + Self.replacement
    }

    /// Returns a Boolean value that indicates whether a text is a scheme (RFC 3986, section 3.1).
    private static func isScheme(_ text: ArraySlice<UInt8>) -> Bool {
        text.first?.isASCIILetter == true && text.allSatisfy { $0.isASCIIWord(or: "+-.") }
    }

    /// Returns a worker's page `/status` without the messages of its errors, which can quote what a record contains.
    func status(_ value: JSONValue) -> JSONValue {
        guard isOn else { return value }
        if value.array != nil { return value.mapElements(status) }
        guard value.object != nil else { return value }
        return value.mapMembers { $0.name == "message" ? masked : status($0.value) }
    }

    private var masked: JSONValue { string(Self.replacement) }

    private func string(_ text: some StringProtocol) -> JSONValue { JSONValue(.string(String(text))) }

    private func masked(id value: JSONValue) -> JSONValue { value.string.map { string(id($0)) } ?? masked }

    private func pick(_ value: JSONValue, _ names: Set<String>) -> JSONValue {
        value.mapMembers { names.contains($0.name) ? single($0.value) : masked }
    }

    /// Returns a value, or its replacement if it is a list or an object, which can contain anything.
    private func single(_ value: JSONValue) -> JSONValue {
        value.array == nil && value.object == nil ? value : masked
    }

    /// Returns a note without the part that can come from the link, such as the value of `rewrite:NAME=VALUE`.
    private func note(_ value: JSONValue) -> JSONValue {
        guard let text = value.string else { return masked }
        if Self.wholeNotes.contains(where: text.hasPrefix) { return value }
        guard let end = text.firstIndex(of: text.hasPrefix("rewrite:") ? "=" : ":") else { return value }
        return string(text[...end] + Self.replacement)
    }

    /// Returns an entry of a stack.
    ///
    /// The names of its models come from the table, and their values are replaced.
    private func entry(_ value: JSONValue) -> JSONValue {
        value.mapMembers { member in
            if member.name == "data" { return member.value.mapMembers { pick($0.value, []) } }
            return Self.entryMembers.contains(member.name) ? member.value : masked
        }
    }

    private func context(_ value: JSONValue) -> JSONValue {
        value.mapMembers { member in
            switch member.name {
            case "push": pick(member.value, ["vendor", "campaign", "priority"])
            case "campaign", "application", "expires": single(member.value)
            // Its values are parts of the link.
            case "query": nil
            default: masked
            }
        }
    }

    private func facts(_ value: JSONValue) -> JSONValue {
        let names = DeviceFacts.Fact.allCases.map(\.name.description)
        return device(value.mapMembers { names.contains($0.name) ? $0.value : nil })
    }

    private func device(_ value: JSONValue) -> JSONValue {
        value.mapMembers { member in
            if member.name == "id" { return masked(id: member.value) }
            return Self.deviceMembers.contains(member.name) ? single(member.value) : masked
        }
    }
}

extension JSONValue {
    /// Returns an object with other values, without the members for which a function returns nil.
    func mapMembers(_ value: (JSONMember) -> JSONValue?) -> JSONValue {
        JSONValue(
            .object((object ?? []).compactMap { one in value(one).map { JSONMember(name: one.name, value: $0) } }))
    }

    /// Returns an array with other elements.
    fileprivate func mapElements(_ value: (JSONValue) -> JSONValue) -> JSONValue {
        JSONValue(.array((array ?? []).map(value)))
    }
}
