import LinkCoordinator

// Generates the queries of links.
extension LinkGenerator {
    /// Returns a query with items for the route's constraints and bindings, including invalid and unknown ones.
    mutating func query(_ block: TableSource.LinkBlock, _ route: TableSource.Route?) -> String? {
        var items: [String] = []
        for constraint in route?.query ?? [] {
            switch constraint.test {
            case .equals(let value):
                if !one(in: 6) { items.append(constraint.name.value + "=" + (one(in: 6) ? "other" : value)) }
            case .present: if !one(in: 6) { items.append(constraint.name.value + (one(in: 2) ? "" : "=1")) }
            case .absent: if one(in: 8) { items.append(constraint.name.value + "=1") }
            }
        }
        for binding in route?.bindings ?? [] {
            guard case .query(let name) = binding.source.value, !one(in: 7) else { continue }
            items += self.items(name, type(of: binding))
        }
        if one(in: 4) {
            items.append(pick(["mode=ar", "mode", "mode=", "w=1", "w", "%77=%31", "zz=1", "zz", "=", "%zz=1"]))
        }
        // The lookup of names differs for many items.
        if one(in: 12) { items += (0..<40).map { "w\($0)=1" } }
        if items.isEmpty { return one(in: 10) ? "" : nil }
        if one(in: 3) { items.shuffle(using: &generator) }
        let separators = block.query.pairSeparators.map { String(UnicodeScalar($0)) }
        var text = ""
        for (index, item) in items.enumerated() {
            if index > 0 { text += block.repair && one(in: 6) ? "&amp;" : pick(separators) }
            if one(in: 30) { text += pick(separators) }
            text += block.repair ? damaged(item) : item
        }
        return text
    }

    /// Returns an item, occasionally with damage by typography and HTML.
    private mutating func damaged(_ item: String) -> String {
        guard one(in: 3) else { return item }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return item.replacing("-", with: pick(["\u{2013}", "%E2%80%91", "\u{2212}"]))
        case 1: return pick([" ", "%20"]) + item
        case 2: return item + pick([" ", "%20"])
        default: return item + pick(["\u{B6}m=1", "%C2%B6", "&amp;x=1"])
        }
    }

    private func type(of binding: TableSource.Binding) -> FieldType? {
        source.models.first { $0.name.value == binding.model.value }?.field(named: binding.field.value)?.type
    }

    /// Returns one or two items of a name, sometimes in another case, null, empty, or of another type.
    private mutating func items(_ name: String, _ type: FieldType?) -> [String] {
        var items: [String] = []
        for _ in 0..<(one(in: 8) ? 2 : 1) {
            let written = one(in: 8) ? name.uppercased() : name
            if one(in: 15) {
                items.append(written)
            } else {
                items.append(written + "=" + (one(in: 6) ? wrongValue() : value(type)))
            }
        }
        return items
    }

    private mutating func wrongValue() -> String {
        pick(["", "07", "abc", "%zz", "%C3%A9", "é", "99999999999999999999", "a%20b", " 5 ", "-0", "2025-02-30", "+5"])
    }

    /// Returns a text of a type in the form of a query.
    mutating func value(_ type: FieldType?) -> String {
        switch type {
        case .uuid: pick(["B121D5E7-EA65-49F8-8B33-B3C43FA93866", "b121d5e7-ea65-49f8-8b33-b3c43fa93866"])
        case .int(let min, let max): String(min > 0 ? min : Swift.min(max, pick([0, 5, 42])))
        case .bool: pick(["true", "0"])
        case .double: pick(["2.50", "0", "-1.5"])
        case .date: "2025-01-31"
        case .decimal(let min, let max):
            pick(["2.50", "0", "-1.5", "0.001", "123456789012345678901234567890.5", min ?? "1", (max ?? "1") + "0"])
        case .dateTime:
            pick([
                "2025-01-31T14:00:00Z", "2025-01-31t23:59:59.50z", "2025-01-31T23:30:00-01:00",
                "2024-02-29T00:00:00%2B14:00",
            ])
        case .enumeration(let values): String(decoding: pick(values), as: UTF8.self)
        case .url: pick(["https://e.example/x", "https%3A%2F%2Fc.a.example%2F"])
        case .list(let element, _, _): value(element)
        case .string, nil: pick(["abc", "a%20b", "a+b", "é", "%C3%A9", "x", "5"])
        }
    }
}
