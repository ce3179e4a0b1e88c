internal import ByteStorage
internal import KafkaClient

/// The comparison of the clock of the brokers with that of this machine.
///
/// No answer of a broker contains its time, except the timestamp of a record in a topic with `LogAppendTime`. So a
/// topic is created for one record, and deleted.
struct ClockCheck {
    /// The largest difference that is not a risk, in milliseconds.
    private static let limit: Int64 = 5_000

    let connection: Connection
    let admin: KafkaAdmin

    /// Returns the check, or no check if this user may not create a topic or the record cannot be read.
    func check() -> [DoctorCheck] {
        let topic = "linkd-doctor-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let specification = TopicSpecification(
            name: topic, partitions: 1,
            settings: ["message.timestamp.type": "LogAppendTime", "retention.ms": "600000"])
        let created = try? admin.create(topics: [specification], timeoutMilliseconds: 10_000)
        guard let created, created.allSatisfy({ $0.error == nil }) else { return [] }
        let difference = difference(topic)
        let deleted = try? admin.delete(topics: [topic], timeoutMilliseconds: 10_000)
        var checks = difference.map { [Self.judge($0)] } ?? []
        if deleted?.first.map({ $0.error == nil }) != true {
            checks.append(
                .warn("clock", "the topic \(topic) of this check could not be deleted", next: "delete the topic"))
        }
        return checks
    }

    /// Judges a difference in milliseconds, which is positive if the clock of the brokers is ahead.
    static func judge(_ difference: Int64) -> DoctorCheck {
        let size = difference.magnitude
        guard size > UInt64(limit) else {
            return .ok("clock", "less than \(limit / 1_000) s of difference between this machine and the brokers")
        }
        return .warn(
            "clock",
            "the clock of the brokers is \(size / 1_000) s \(difference > 0 ? "ahead of" : "behind") the one of this "
                + "machine, so that latencies, ages, and times of records are wrong",
            next: "synchronize the clocks of this machine and of the brokers, for example with NTP")
    }

    /// Returns the difference of the clocks, which is 0 if the time of the record is between those around it.
    private func difference(_ topic: String) -> Int64? {
        let before = Platform.nowMilliseconds
        guard write(topic) else { return nil }
        let after = Platform.nowMilliseconds
        guard let time = timestamp(topic) else { return nil }
        return time < before ? time - before : max(0, time - after)
    }

    /// Writes one record, and returns a Boolean value that indicates whether it was delivered.
    private func write(_ topic: String) -> Bool {
        guard let producer = try? KafkaProducer(connection.configuration(.producer, ["linger.ms": "0"])),
            let handle = try? producer.topic(topic)
        else { return false }
        defer { producer.close() }
        let value = ByteView("linkd doctor")
        guard (try? producer.produce(handle, partition: 0, key: nil, value: value)) != nil else { return false }
        let end = Platform.monotonicSeconds + 10
        while producer.deliveries.reported == 0, Platform.monotonicSeconds < end {
            producer.poll(timeoutMilliseconds: 100)
        }
        return producer.deliveries.delivered == 1
    }

    /// Returns the timestamp of the record in a topic, in milliseconds since 1970.
    private func timestamp(_ topic: String) -> Int64? {
        guard var scan = try? TopicScan(connection, topics: [topic]) else {
            return nil
        }
        var time: Int64?
        let end = Platform.monotonicSeconds + 10
        while time == nil, !scan.isDone, Platform.monotonicSeconds < end {
            let next = try? scan.next { record in
                time = record.timestamp
                return false
            }
            if next == nil { return nil }
        }
        return time
    }
}
