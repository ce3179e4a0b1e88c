package import LinkDecider

// The topics that a check reads.
extension OutcomeVerifier {
    /// A partition of an input.
    package struct Source: Sendable {
        /// The topic.
        package var topic: String
        /// The partition.
        package var partition: Int32
        /// The offsets to check, which end at most at the offset that was committed before the ends of the other
        /// topics were determined.
        package var range: Range<Int64>
        /// The offset that was committed after those ends were determined, or nil for none.
        ///
        /// Outcomes exist below it only.
        package var committed: Int64?
        /// A Boolean value that indicates whether the topic is compacted, so that any record can be removed.
        package var isCompacted: Bool
        /// The offsets of the records whose outcomes must be in order, once, and committed.
        ///
        /// The outcomes of records that retention has removed, and of those that wait, are checked with the whole
        /// input. They are not if a part of it was chosen.
        package var chosen: Range<Int64>

        /// Creates a partition.
        package init(
            _ topic: String, _ partition: Int32, _ range: Range<Int64>, committed: Int64?, isCompacted: Bool = false,
            chosen: Range<Int64> = .min..<(.max)
        ) {
            (self.topic, self.partition, self.range) = (topic, partition, range)
            (self.committed, self.isCompacted, self.chosen) = (committed, isCompacted, chosen)
        }
    }

    /// The topics of the outcomes.
    package struct Outcomes: Sendable {
        /// The topics of the decisions.
        package let outputs: OutputTopics
        /// The index of each topic's first partition in `isWhole`.
        private let firsts: [Int]
        /// A Boolean value for each partition of the topics that indicates whether all its records are passed.
        package let isWhole: [Bool]
        /// A Boolean value that indicates whether all dead letters are passed.
        package var hasAllDeadLetters: Bool
        /// A Boolean value that indicates whether one of the topics is compacted, so that any record can be removed.
        package var isCompacted: Bool
        /// A Boolean value that indicates whether outcomes can be repeated (`guarantee` is `at-least-once`).
        package var canRepeat: Bool

        /// Creates a description.
        ///
        /// - Parameters:
        ///   - outputs: The topics of the decisions.
        ///   - isWhole: For each topic of `outputs`, and in it for each partition.
        ///   - hasAllDeadLetters: A Boolean value that indicates whether all dead letters are passed.
        ///   - isCompacted: A Boolean value that indicates whether one of the topics is compacted.
        ///   - canRepeat: A Boolean value that indicates whether outcomes can be repeated.
        package init(
            _ outputs: OutputTopics, isWhole: [[Bool]], hasAllDeadLetters: Bool, isCompacted: Bool = false,
            canRepeat: Bool = false
        ) {
            var firsts = [0]
            for topic in isWhole { firsts.append(firsts[firsts.count - 1] + topic.count) }
            (self.outputs, self.firsts, self.isWhole) = (outputs, firsts, Array(isWhole.joined()))
            (self.hasAllDeadLetters, self.isCompacted, self.canRepeat) = (hasAllDeadLetters, isCompacted, canRepeat)
        }

        /// Returns the number of a topic's partition among those of all topics, or nil if the topic does not have it.
        func number(of topic: Int, _ partition: Int32) -> Int? {
            guard topic + 1 < firsts.count else { return nil }
            let number = firsts[topic] + Int(partition)
            return partition >= 0 && number < firsts[topic + 1] ? number : nil
        }

        /// Returns the number of partitions of a topic.
        func partitionCount(of topic: Int) -> Int32 { Int32(clamping: firsts[topic + 1] - firsts[topic]) }
    }
}
