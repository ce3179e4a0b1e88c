internal import ByteStorage
internal import DecisionIndex
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
        "decision", "application", "table", "route", "variant", "via", "outcome", "mode", "dismissModals", "reason",
        "guard",
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
        "dlq.replay.count", "dlq.truncated", "content-type", "ce_specversion", "ce_type",
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

    private static func text(of hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return prefix + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Returns a text that can contain values of a record, or nil.
    func text(_ text: String?) -> String? { isOn ? nil : text }

    /// Returns a value of a header.
    func header(_ name: String, _ value: String) -> String {
        guard isOn, !Self.headers.contains(name.lowercased()) else { return value }
        return name == "dlq.event" ? id(value) : Self.replacement
    }

    /// Returns a decision without what identifies people.
    func decision(_ value: JSONValue) -> JSONValue {
        guard isOn, let members = value.object else { return isOn ? masked : value }
        return JSONValue(
            .object(
                members.compactMap { member in
                    switch member.name {
                    case "device", "event": keep(member, member.value.string.map { string(id($0)) } ?? masked)
                    case "stack": keep(member, stack(member.value))
                    case "notes": keep(member, JSONValue(.array((member.value.array ?? []).map(note))))
                    case "resume": keep(member, pick(member.value, ["claim", "mode", "ttl", "once"]))
                    case "context": keep(member, context(member.value))
                    case "path", "url", "notice", "detail": keep(member, masked)
                    default: Self.decisionMembers.contains(member.name) ? member : nil
                    }
                }))
    }

    /// Returns an event without what identifies people.
    func event(_ value: JSONValue) -> JSONValue {
        guard isOn else { return value }
        guard let members = value.object else { return masked }
        return JSONValue(
            .object(
                members.compactMap { member in
                    switch member.name {
                    case "id": keep(member, member.value.string.map { string(id($0)) } ?? masked)
                    case "device": keep(member, device(member.value))
                    case "devices":
                        keep(member, JSONValue(.array((member.value.array ?? []).map(device))))
                    case "link": keep(member, member.value.string.map { string(origin($0)) } ?? masked)
                    default: keep(member, Self.eventMembers.contains(member.name) ? single(member.value) : masked)
                    }
                }))
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
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        return text.first.map(isLetter) == true
            && text.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }

    /// Returns a worker's page `/status` without the messages of its errors, which can quote what a record contains.
    func status(_ value: JSONValue) -> JSONValue {
        guard isOn else { return value }
        switch value.kind {
        case .array(let values): return JSONValue(.array(values.map(status)))
        case .object(let members):
            return JSONValue(
                .object(members.map { keep($0, $0.name == "message" ? masked : status($0.value)) }))
        default: return value
        }
    }

    private var masked: JSONValue { string(Self.replacement) }

    private func string(_ text: some StringProtocol) -> JSONValue { JSONValue(.string(String(text))) }

    private func keep(_ member: JSONMember, _ value: JSONValue) -> JSONMember {
        JSONMember(name: member.name, value: value)
    }

    private func pick(_ value: JSONValue, _ names: Set<String>) -> JSONValue {
        JSONValue(.object((value.object ?? []).map { keep($0, names.contains($0.name) ? single($0.value) : masked) }))
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

    private func stack(_ value: JSONValue) -> JSONValue {
        JSONValue(
            .array(
                (value.array ?? []).map { entry in
                    JSONValue(
                        .object(
                            (entry.object ?? []).map { member in
                                if member.name == "data" { return keep(member, data(member.value)) }
                                return keep(member, Self.entryMembers.contains(member.name) ? member.value : masked)
                            }))
                }))
    }

    /// Returns the models of a screen, whose names come from the table and whose values are replaced.
    private func data(_ value: JSONValue) -> JSONValue {
        JSONValue(.object((value.object ?? []).map { keep($0, pick($0.value, [])) }))
    }

    private func context(_ value: JSONValue) -> JSONValue {
        JSONValue(
            .object(
                (value.object ?? []).map { member in
                    switch member.name {
                    case "push": keep(member, pick(member.value, ["vendor", "campaign"]))
                    case "campaign", "application": keep(member, single(member.value))
                    default: keep(member, masked)
                    }
                }))
    }

    private func device(_ value: JSONValue) -> JSONValue {
        JSONValue(
            .object(
                (value.object ?? []).map { member in
                    if member.name == "id" { return keep(member, member.value.string.map { string(id($0)) } ?? masked) }
                    return keep(member, Self.deviceMembers.contains(member.name) ? single(member.value) : masked)
                }))
    }
}
