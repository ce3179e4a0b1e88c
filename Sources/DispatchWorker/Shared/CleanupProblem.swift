/// A `cleanup.policy` by which a topic loses records, devices, or configurations.
package struct CleanupProblem: Sendable, Equatable {
    /// The purpose of a topic.
    package enum Purpose: Sendable {
        case input, output, devices, archive
    }

    /// The topic.
    package let topic: String
    /// The stable code of the problem.
    package let code: String
    /// A description, which follows the name of the topic.
    package let text: String
    /// The suggested correction.
    package let advice: String

    /// Creates the problem of a topic, or returns nil if it has none.
    package init?(topic: String, _ purpose: Purpose, policy: String?) {
        guard let policy else { return nil }
        let isCompacted = policy.contains("compact")
        let isKept = purpose == .devices || purpose == .archive
        guard isKept ? policy != "compact" : isCompacted else { return nil }
        self.topic = topic
        (code, advice) =
            isKept ? ("not_compacted", "set cleanup.policy=compact") : ("compacted", "set cleanup.policy=delete")
        text =
            switch purpose {
            case .input:
                "is compacted, which deletes older records of a device, and may delete the witness, the last decided "
                    + "record, by which a worker recognizes that the topic was created again"
            case .output: "is compacted, which deletes older records of a device"
            case .devices where isCompacted:
                "deletes devices after retention.ms, which workers that have read them keep"
            case .devices:
                "is not compacted, so that devices are lost after retention.ms, and no worker with `devices.topic` "
                    + "starts"
            case .archive: "is not only compacted, so that configurations are lost after retention.ms"
            }
    }
}
