internal import KafkaClient

/// A metric: its description, and the function that adds its samples.
package struct Metric: Sendable {
    /// The name, the kind, the labels, and the text for people.
    package let description: MetricDescription
    /// The function that adds the samples.
    private let addSamples: @Sendable (WorkerSnapshot, inout PrometheusText) -> Void

    /// Creates a metric of the process.
    init(
        _ name: String, _ kind: MetricDescription.Kind, labels: [String] = [], _ help: String,
        _ write: @escaping @Sendable (WorkerSnapshot, inout PrometheusText) -> Void
    ) {
        description = MetricDescription(name: name, kind: kind, labels: labels, help: help)
        addSamples = write
    }

    /// Writes the metric to a page.
    ///
    /// A metric without samples is omitted.
    package func write(_ snapshot: WorkerSnapshot, to text: inout PrometheusText) {
        text.begin(description)
        addSamples(snapshot, &text)
    }

    /// Returns a metric with one or more samples for each lane.
    ///
    /// The function gets the lane and the value of its label.
    static func lanes(
        _ name: String, _ kind: MetricDescription.Kind, labels: [String] = [], _ help: String,
        _ write: @escaping @Sendable (LaneView, String, inout PrometheusText) -> Void
    ) -> Metric {
        Metric(name, kind, labels: ["lane"] + labels, help) { snapshot, text in
            for lane in snapshot.lanes { write(lane, String(lane.snapshot.lane), &text) }
        }
    }

    /// Returns a metric of a lane's counter.
    static func counter(_ name: String, _ counter: LaneCounter, _ help: String) -> Metric {
        lanes(name, .counter, help) { lane, label, text in text.add([label], lane.snapshot.metrics[counter]) }
    }

    /// Returns a metric of several counters of a lane, which a label separates.
    static func counters(
        _ name: String, _ separating: String, _ counters: [(value: String, counters: [LaneCounter])], _ help: String
    ) -> Metric {
        lanes(name, .counter, labels: [separating], help) { lane, label, text in
            for (value, counters) in counters {
                text.add([label, value], counters.reduce(0) { $0 &+ lane.snapshot.metrics[$1] })
            }
        }
    }

    /// Returns a metric of a lane's histogram.
    static func histogram(_ name: String, _ histogram: LaneHistogram, _ help: String) -> Metric {
        lanes(name, .histogram, help) { lane, label, text in
            text.add([label], lane.snapshot.metrics.values(of: histogram), isTime: histogram.isTime)
        }
    }

    /// Returns a metric with at most one sample for each owned partition.
    ///
    /// The function gets the partition and the values of its labels.
    static func partitions(
        _ name: String, _ help: String,
        _ write: @escaping @Sendable (PartitionLag, [String], inout PrometheusText) -> Void
    ) -> Metric {
        Metric(name, .gauge, labels: ["topic", "partition"], help) { snapshot, text in
            // During a rebalance, a partition can be in the states of its old and its new lane.
            var written: Set<TopicPartition> = []
            for partition in snapshot.partitions where written.insert(partition.partition).inserted {
                let name = partition.partition
                write(partition, [name.topic, String(name.partition)], &text)
            }
        }
    }
}
