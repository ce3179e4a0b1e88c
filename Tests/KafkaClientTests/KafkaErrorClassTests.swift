@testable import KafkaClient
import Testing

/// The error classes that this module decides, by code and flags.
struct KafkaErrorClassTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var code: KafkaErrorCode
        var flags: String
        var expected: KafkaErrorClass
        var testDescription: String { "\(code.name) \(flags)" }
    }

    static let rows: [Row] = [
        Row(code: .coordinatorNotAvailable, flags: "R", expected: .retriable),
        Row(code: .timedOut, flags: "R", expected: .retriable),
        Row(code: .concurrentTransactions, flags: "R", expected: .retriable),
        Row(code: .queueFull, flags: "", expected: .retriable),
        Row(code: .unknownProducerID, flags: "A", expected: .abortable),
        Row(code: .illegalGeneration, flags: "A", expected: .abortable),
        Row(code: .unknownMember, flags: "A", expected: .abortable),
        Row(code: .rebalanceInProgress, flags: "A", expected: .abortable),
        Row(code: .messageTooLarge, flags: "A", expected: .abortable),
        Row(code: .invalidRecord, flags: "A", expected: .abortable),
        Row(code: .fencedInstanceID, flags: "A", expected: .abortable),
        Row(code: .fencedInstanceID, flags: "F", expected: .fencedInstance),
        Row(code: .fencedInstanceID, flags: "", expected: .fencedInstance),
        Row(code: .fenced, flags: "A", expected: .fenced),
        Row(code: .fenced, flags: "F", expected: .fenced),
        Row(code: .producerFenced, flags: "F", expected: .fenced),
        Row(code: .invalidProducerEpoch, flags: "F", expected: .fenced),
        Row(code: .invalidTransactionState, flags: "F", expected: .fatal),
        Row(code: .outOfOrderSequence, flags: "F", expected: .fatal),
        Row(code: .invalidProducerIDMapping, flags: "F", expected: .fatal),
        Row(code: .unknown, flags: "", expected: .fatal),
        Row(code: KafkaErrorCode(12345), flags: "", expected: .fatal),
        Row(code: .topicAuthorizationFailed, flags: "A", expected: .authorization(.topic)),
        Row(code: .groupAuthorizationFailed, flags: "A", expected: .authorization(.group)),
        Row(code: .clusterAuthorizationFailed, flags: "F", expected: .authorization(.cluster)),
        Row(code: .transactionalIDAuthorizationFailed, flags: "F", expected: .authorization(.transactionalID)),
        Row(code: .transactionalIDAuthorizationFailed, flags: "R", expected: .authorization(.transactionalID)),
        Row(code: .authentication, flags: "", expected: .authentication),
        Row(code: .saslAuthenticationFailed, flags: "F", expected: .authentication),
        Row(code: .invalidTransactionTimeout, flags: "F", expected: .configuration),
    ]

    @Test("Code and flags determine the class of an error", arguments: rows)
    func classes(row: Row) {
        let error = KafkaError(
            code: row.code, isFatal: row.flags.contains("F"), isRetriable: row.flags.contains("R"),
            isAbortable: row.flags.contains("A"))
        #expect(KafkaErrorClass(error) == row.expected)
    }

    @Test("An error that is retriable and abortable counts as retriable")
    func retriableFirst() {
        let error = KafkaError(code: .timedOut, isRetriable: true, isAbortable: true)
        #expect(KafkaErrorClass(error) == .retriable)
    }

    @Test("Every named code has a name in the library that runs")
    func names() {
        let codes = Self.rows.map(\.code).filter { $0.rawValue != 12345 }
        #expect(codes.filter { $0.name.hasSuffix("?") } == [])
        #expect(KafkaErrorCode.fenced.name == "_FENCED")
        #expect(KafkaErrorCode.illegalGeneration.name == "ILLEGAL_GENERATION")
        #expect(KafkaErrorCode.autoOffsetReset.name == "_AUTO_OFFSET_RESET")
        #expect(KafkaErrorCode.unstableOffsetCommit.name == "UNSTABLE_OFFSET_COMMIT")
    }

    @Test("A purge is not a failed delivery, and three codes are about one record")
    func kinds() {
        #expect(KafkaErrorCode.purgedInFlight.isPurge && KafkaErrorCode.purgedFromQueue.isPurge)
        #expect(!KafkaErrorCode.messageTimedOut.isPurge)
        let all: [KafkaErrorCode] = [.messageTooLarge, .invalidRecord, .invalidTimestamp, .messageTimedOut, .fenced]
        #expect(all.map(\.isRecordLevel) == [true, true, true, false, false])
    }

    @Test("The description of an error has its name, flags, and text, in this order")
    func description() {
        let error = KafkaError(code: .fenced, text: "gone", isFatal: true)
        #expect(error.description == "_FENCED (fatal): gone")
        #expect(KafkaError(code: .timedOut, text: "late").description == "_TIMED_OUT: late")
    }
}
