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
        if let tableID, facts.table?.string.hasPrefix(tableID + "@") != true { return false }
        for (field, text) in values {
            let value: ByteView? =
                switch field {
                case .outcome: facts.outcome
                case .route: facts.route
                case .table: facts.table
                case .reason: facts.reason
                case .campaign: facts.campaign
                case .application: facts.application
                }
            guard (value ?? .empty).buffer.elementsEqual(text.utf8) else { return false }
        }
        return true
    }
}
