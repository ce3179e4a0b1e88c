internal import ByteStorage

// Repairs damaged queries: tries each repair alone and uses it if exactly one of them succeeds.
extension Resolver {
    /// Tries to repair the query value of a field that is invalid, or required and missing.
    ///
    /// Returns `true` if exactly one repair succeeded.
    @inline(never)
    mutating func repair(_ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ slot: Int) -> Bool {
        var found: (value: BoundValue, by: Repair)?
        var count = 0
        for repair in Repair.allCases {
            guard let value = attempt(repair, binding, field) else { continue }
            found = (value, repair)
            count += 1
        }
        guard count == 1, let (value, repair) = found else { return false }
        let stamp = values[slot].stamp
        values[slot] = value
        values[slot].stamp = stamp
        readings.lastRepair = repair
        note(repair, binding)
        return true
    }

    /// Adds a note about a repaired value.
    mutating func note(_ repair: Repair, _ binding: Ref<CompiledBinding>) {
        notes.append(Note("repaired:query.", binding.ref(\.query).text, repair.label))
    }

    /// Returns the value of the field after one repair, or nil if it is still invalid.
    private mutating func attempt(
        _ repair: Repair, _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>
    ) -> BoundValue? {
        let name = binding.ref(\.query)
        let kind = field.kind == .list ? field.item : field.kind
        let isOfParams = usesParams
        if isOfParams && query.items.isEmpty && !makeItemsFromParams() { return nil }
        usesParams = false
        defer { usesParams = isOfParams }
        if repair == .dash && kind != .uuid && kind != .date && kind != .dateTime { return nil }
        guard query.begin(repair, name, &texts) else { return nil }
        defer { query.end(repair, name) }
        return parse(binding, field, repair)
    }

    /// Reads the value of a field from the current items.
    private mutating func parse(
        _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ repair: Repair
    ) -> BoundValue? {
        guard field.kind == .list else {
            guard case .text(let text) = find(binding.ref(\.query)) else { return nil }
            return canonical(text, field, kind: field.kind)
        }
        let read = readList(binding, field, repair)
        guard read.isValid, read.count > 0, read.count >= field.minCount, read.count <= field.maxCount else {
            return nil
        }
        return BoundValue(state: .list, first: read.first, count: read.count)
    }
}
