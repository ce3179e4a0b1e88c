package import ByteStorage

/// A property of rows that has few different values.
package enum RowField: String, Sendable, CaseIterable {
    case outcome, route, table, reason, campaign, application

    /// The index of the property's column.
    var column: Int {
        switch self {
        case .outcome: 0
        case .route: 1
        case .table: 2
        case .reason: 3
        case .campaign: 4
        case .application: 5
        }
    }
}

/// A decision or a dead letter to add to an index.
///
/// The views are read during the call only. A member is nil if the record does not have it.
package struct RowFacts {
    /// The place in the order of all rows.
    package var key: RowKey
    /// The id of the device.
    package var device: ByteView?
    /// The id of the event.
    package var event: ByteView?
    /// The outcome of a decision.
    package var outcome: ByteView?
    /// The id of the route.
    package var route: ByteView?
    /// The identity of the table.
    package var table: ByteView?
    /// The reason of a decision or a dead letter.
    package var reason: ByteView?
    /// The campaign.
    package var campaign: ByteView?
    /// The application.
    package var application: ByteView?

    /// Creates a row that has only a place.
    package init(_ key: RowKey) { self.key = key }

    /// Returns the value of a property.
    package subscript(field: RowField) -> ByteView? {
        switch field {
        case .outcome: outcome
        case .route: route
        case .table: table
        case .reason: reason
        case .campaign: campaign
        case .application: application
        }
    }
}
