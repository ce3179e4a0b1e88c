internal import ByteStorage
internal import DecisionIndex

extension RowFilter {
    /// Returns a Boolean value that indicates whether the filter includes a row, apart from its time.
    func includes(_ facts: RowFacts, _ hash: KeyedHash) -> Bool {
        if let kind, facts.key.source.kind != kind { return false }
        if let device, facts.device.map({ hash($0) }) != device { return false }
        if let event, facts.event.map({ hash($0) }) != event { return false }
        let isReject = facts.outcome?.equals("reject") ?? false
        if isProblem, facts.key.source.kind == .decision, !isReject { return false }
        if tableID != nil || !excludedTableIDs.isEmpty {
            guard includesTable(facts.table?.string ?? "") else { return false }
        }
        if values.contains(where: { !(facts[$0] ?? .empty).buffer.elementsEqual($1.utf8) }) { return false }
        return !excluded.contains { field, texts in
            let value = (facts[field] ?? .empty).buffer
            return texts.contains { value.elementsEqual($0.utf8) }
        }
    }
}
