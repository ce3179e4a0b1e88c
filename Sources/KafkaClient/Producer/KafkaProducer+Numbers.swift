package import ByteStorage

/// Numbered records, whose delivery reports can be attributed.
extension KafkaProducer {
    /// Produces one record with a number, which its delivery report returns.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - partition: The partition, or nil for the partitioner's choice.
    ///   - key: The key, or nil for none. It is copied.
    ///   - value: The value, or nil for a tombstone. It is copied.
    ///   - headers: The headers in order. They are copied.
    ///   - number: The number, greater than 0.
    package func produce(
        _ topic: ProducerTopic, partition: Int32?, key: ByteView?, value: ByteView?, headers: [HeaderView] = [],
        number: UInt
    ) throws(KafkaError) {
        let request = ProduceRequest(
            partition: partition, key: key, value: value, headers: headers, timestamp: nil, copiesValue: true,
            number: number)
        try produce(request, to: topic)
    }

    /// The numbered records that were reported as not delivered, in the order of their reports.
    ///
    /// There are at most `undeliveredLimit`. Further ones are only counted, in `deliveries`.
    package var undelivered: [UndeliveredRecord] { counter.pointee.undelivered }

    /// The limit of the list `undelivered`.
    package static var undeliveredLimit: Int { DeliveryCounter.undeliveredLimit }

    /// The greatest number of a record that a broker has stored, or 0.
    package var lastDelivered: UInt { counter.pointee.lastDelivered }
}
