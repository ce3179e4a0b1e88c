@testable import KafkaClient

/// The errors that librdkafka returns from a transaction for the errors of a broker, with the flags that it sets.
///
/// `LibraryErrorTests` compares them with the library that runs. The simulation fails calls with them.
struct LibraryErrors: Sendable {
    /// A request of a transaction, by its key in Kafka's protocol.
    enum Request: Int16, Sendable, CaseIterable {
        case produce = 0
        case addPartitions = 24
        case addOffsets = 25
        case endTransaction = 26
        case commitOffsets = 28
    }

    /// A flag that the library sets on an error.
    enum Flag: Sendable, Equatable {
        case fatal
        case abortable
    }

    /// The error of a broker or of the connection.
    var code: KafkaErrorCode
    /// The flags by request.
    ///
    /// A request that is missing repeats the error on its own, or never has it.
    var flags: [Request: Flag]
    /// The code that the library returns, if it is another one.
    var returned: KafkaErrorCode?

    /// The requests of the calls that add offsets and that commit.
    static let offsetRequests: [Request] = [.addPartitions, .addOffsets, .commitOffsets]
    static let commitRequests: [Request] = [.produce, .endTransaction]

    static let all: [LibraryErrors] = [
        LibraryErrors(
            code: .invalidProducerEpoch,
            flags: [
                .produce: .fatal, .addPartitions: .fatal, .addOffsets: .fatal, .endTransaction: .fatal,
                .commitOffsets: .fatal,
            ], returned: .fenced),
        LibraryErrors(
            code: .producerFenced,
            flags: [
                .addPartitions: .fatal, .addOffsets: .abortable, .endTransaction: .fatal, .commitOffsets: .abortable,
            ], returned: .fenced),
        LibraryErrors(
            code: .invalidTransactionState,
            flags: [.addPartitions: .fatal, .addOffsets: .fatal, .endTransaction: .fatal, .commitOffsets: .fatal]),
        LibraryErrors(
            code: .unknownProducerID,
            flags: [.produce: .abortable, .addPartitions: .abortable, .endTransaction: .abortable]),
        LibraryErrors(
            code: .invalidProducerIDMapping,
            flags: [.endTransaction: .abortable, .commitOffsets: .fatal]),
        LibraryErrors(code: .outOfOrderSequence, flags: [.produce: .fatal]),
        LibraryErrors(code: .illegalGeneration, flags: [.commitOffsets: .abortable]),
        LibraryErrors(code: .unknownMember, flags: [.commitOffsets: .abortable]),
        LibraryErrors(code: .rebalanceInProgress, flags: [.commitOffsets: .abortable]),
        LibraryErrors(code: .fencedInstanceID, flags: [.commitOffsets: .abortable]),
        LibraryErrors(code: .messageTooLarge, flags: [.produce: .abortable]),
        LibraryErrors(code: .invalidRecord, flags: [.produce: .abortable]),
        // The handlers do not know the codes of the connection, except for the lost one and the timeout.
        LibraryErrors(
            code: .authentication,
            flags: [.addOffsets: .abortable, .endTransaction: .abortable, .commitOffsets: .abortable]),
        LibraryErrors(
            code: .topicAuthorizationFailed,
            flags: [.produce: .abortable, .addPartitions: .abortable, .commitOffsets: .abortable]),
        LibraryErrors(code: .groupAuthorizationFailed, flags: [.commitOffsets: .abortable]),
        LibraryErrors(
            code: .clusterAuthorizationFailed,
            flags: [.addPartitions: .fatal, .addOffsets: .fatal, .endTransaction: .fatal, .commitOffsets: .fatal]),
        LibraryErrors(
            code: .transactionalIDAuthorizationFailed,
            flags: [.addPartitions: .fatal, .addOffsets: .fatal, .endTransaction: .fatal, .commitOffsets: .fatal]),
    ]

    /// A Boolean value that indicates whether only an operator can end the error.
    var needsOperator: Bool {
        if case .authorization = KafkaErrorClass(KafkaError(code: code)) { true } else { false }
    }

    /// Returns the errors of some requests with a flag, without those that only an operator can end.
    static func errors(of requests: [Request], _ flag: Flag) -> [KafkaError] {
        all.filter { row in !row.needsOperator && requests.contains { row.flags[$0] == flag } }.map { $0.error(flag) }
    }

    /// Returns the error that the library returns.
    func error(_ flag: Flag) -> KafkaError {
        KafkaError(code: returned ?? code, isFatal: flag == .fatal, isAbortable: flag == .abortable)
    }
}
