internal import DecisionIndex
internal import KafkaClient

/// The topics that a console reads: that of the decisions, then those of the dead letters.
struct FeedTopics: Equatable, Sendable {
    /// The names, by the number of the topic in the index.
    let names: [String]
    /// The input topics, from which events are read.
    let inputs: Set<String>

    /// Creates a list of topics.
    init(decisions: String, deadLetters: [String], inputs: [String] = []) {
        self.inputs = Set(inputs)
        var names = [decisions]
        for name in deadLetters where !names.contains(name) { names.append(name) }
        self.names = Array(names.prefix(RowSource.topicLimit))
    }

    /// The topic of the decisions.
    var decisions: String { names[0] }

    /// Returns the place of a partition in the index, or nil if the topic is not read.
    func source(_ partition: TopicPartition) -> RowSource? {
        names.firstIndex(of: partition.topic).flatMap { RowSource(topic: $0, partition: partition.partition) }
    }

    /// Returns the partition of a place in the index, or nil if the topic is not read.
    func partition(_ source: RowSource) -> TopicPartition? {
        names.indices.contains(source.topic)
            ? TopicPartition(topic: names[source.topic], partition: source.partition) : nil
    }
}
