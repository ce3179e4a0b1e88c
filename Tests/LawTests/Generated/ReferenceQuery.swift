import LinkCoordinator
import StrictJSON

/// A straightforward reader of queries, with which the resolver's results are compared.
struct ReferenceQuery {
    /// The value of a name.
    enum Value: Equatable {
        case absent, null, invalid
        case text([UInt8])
    }

    private let dialect: TableSource.QueryDialect
    /// The decoded names, with nil for one that cannot be decoded, and the undecoded values, with nil for null.
    private var items: [(name: [UInt8]?, value: [UInt8]?)] = []

    init(_ text: String?, _ dialect: TableSource.QueryDialect) {
        self.dialect = dialect
        guard let text else { return }
        var bytes = Array(text.utf8)
        if dialect.decode == .before, let decoded = Self.decoded(bytes, plusIsSpace: false) { bytes = decoded }
        let parts = bytes.split { dialect.pairSeparators.contains($0) }.map(Array.init)
        if dialect.flatten {
            let flat = parts.flatMap { $0.split(separator: UInt8(ascii: "=")).map(Array.init) }
            for (index, part) in flat.enumerated() {
                items.append((name(part), index + 1 < flat.count ? flat[index + 1] : nil))
            }
        } else {
            for part in parts {
                let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                items.append((name(Array(halves[0])), halves.count == 2 ? Array(halves[1]) : nil))
            }
        }
    }

    private func name(_ raw: [UInt8]) -> [UInt8]? { text(raw).map(folded) }

    private func folded(_ name: [UInt8]) -> [UInt8] {
        dialect.names == .insensitive ? name.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 } : name
    }

    private func text(_ raw: [UInt8]) -> [UInt8]? {
        dialect.decode == .none ? raw : Self.decoded(raw, plusIsSpace: dialect.plus == .space)
    }

    /// Returns the text decoded once and in NFC, or nil if an escape is malformed or the result has control characters
    /// or is not text.
    static func decoded(_ raw: [UInt8], plusIsSpace: Bool) -> [UInt8]? {
        var out: [UInt8] = []
        var index = 0
        while index < raw.count {
            if raw[index] == UInt8(ascii: "%") {
                let digits = raw[(index + 1)...].prefix(2)
                guard digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                    let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { return nil }
                out.append(byte)
                index += 3
            } else {
                out.append(plusIsSpace && raw[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : raw[index])
                index += 1
            }
        }
        guard let text = String(validating: out, as: UTF8.self),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return nil }
        return Array(nfc(text).utf8)
    }

    /// Returns a Boolean value that indicates whether the name is present, including null.
    func has(_ name: String) -> Bool { items.contains { $0.name == folded(Array(name.utf8)) } }

    /// Returns the value of a name.
    func value(_ name: String) -> Value {
        var own = items.filter { $0.name == folded(Array(name.utf8)) }.map(\.value)
        if own.isEmpty { return .absent }
        if dialect.flatten { return own[0].map { text($0).map { .text($0) } ?? .invalid } ?? .absent }
        if dialect.duplicates == .reject, own.count > 1 { return .invalid }
        if dialect.nulls == .keep { own.removeAll { $0 == nil } }
        guard let chosen = dialect.duplicates == .last ? own.last : own.first, let raw = chosen else { return .null }
        return text(raw).map { .text($0) } ?? .invalid
    }

    /// Returns a Boolean value that indicates whether the last item is one of these names, ignoring surrounding
    /// spaces, so that the next item may be its value (`flatten`).
    func endsIn(_ names: [String]) -> Bool {
        guard let last = items.last?.name else { return false }
        let own = String(decoding: last, as: UTF8.self).split(separator: " ").joined(separator: " ")
        return names.contains { String(decoding: folded(Array($0.utf8)), as: UTF8.self) == own }
    }

    /// Returns a Boolean value that indicates whether a constraint of a table holds.
    func holds(_ constraint: TableSource.QueryConstraint) -> Bool {
        switch constraint.test {
        case .present: has(constraint.name.value)
        case .absent: !has(constraint.name.value)
        case .equals(let expected): value(constraint.name.value) == .text(Array(expected.utf8))
        }
    }
}
