internal import ByteStorage
internal import DeviceRegistry
internal import KafkaClient
internal import LinkIngest
internal import SystemThreads

/// The reader of the registry's topic, which writes what it reads to the store.
///
/// One thread runs it.
final class RegistryTopicReader: Sendable {
    /// The records of one transaction of the store: larger ones take more space, smaller ones more time.
    private static let batchRecords = 4_000
    /// The interval at which the ends of the partitions are asked for, in nanoseconds.
    private static let endInterval: UInt64 = 5_000_000_000
    /// The questions for ends after which new partitions are looked for.
    private static let questionsBetweenTopics = 12
    /// The interval of log lines about malformed records, in nanoseconds.
    private static let logInterval: UInt64 = 60_000_000_000
    /// The time limit of a request, in milliseconds.
    private static let requestTimeout: Int32 = 5_000

    private let topic: String
    private let partitions: [Int32]
    private let members: DeviceMembers
    private let store: RegistryStore
    private let log: Log
    private let state: Monitor<RegistryCopy.View>

    init(
        topic: String, partitions: [Int32], members: DeviceMembers, store: RegistryStore, log: Log,
        state: Monitor<RegistryCopy.View>
    ) {
        self.topic = topic
        self.partitions = partitions
        self.members = members
        self.store = store
        self.log = log
        self.state = state
    }

    /// What the thread knows while it runs.
    private struct Run: ~Copyable {
        let reader: KafkaReader
        var devices: RegisteredDeviceReader
        var batch = RegistryBatch()
        /// The next offset of each partition.
        var next: [Int32: Int64] = [:]
        /// The number of questions for the ends.
        var questions = 0
        /// The stable ends that the partitions had at the start and that were not reached yet.
        var targets: [Int32: Int64] = [:]
        /// The newest known stable ends.
        var ends: [Int32: Int64] = [:]
        var askedAt: UInt64 = 0
        var malformed: UInt64 = 0
        var loggedAt: UInt64?
        var logged: UInt64 = 0

        init(_ reader: KafkaReader, _ members: DeviceMembers) {
            self.reader = reader
            devices = RegisteredDeviceReader(members)
        }
    }

    /// Reads until the thread is stopped, and returns the exit if it cannot go on.
    func run(_ configuration: ClientConfiguration, _ thread: StoppableThread) -> WorkerExit? {
        let reader: KafkaReader
        do {
            reader = try KafkaReader(configuration)
        } catch {
            return WorkerExit(.configuration, error.text, advice: "correct the setting that the message names")
        }
        var run = Run(reader, members)
        defer { run.reader.close() }
        while !thread.isStopped {
            do {
                if let exit = try begin(&run) { return exit }
                break
            } catch {
                // The brokers were reached a moment ago.
                _ = run.reader.takeEvents()
                _ = thread.sleep(milliseconds: 200)
            }
        }
        log.log(
            LogEntry(
                .info, "devices.restoring", "reading the registry of devices",
                [
                    LogField("topic", .text(topic)), LogField("devices", .count(store.count)),
                    LogField("offsets", .count(run.targets.reduce(0) { $0 + Int($1.value - (run.next[$1.key] ?? 0)) })),
                ]))
        publish(&run)
        while !thread.isStopped {
            if let exit = step(&run) { return exit }
        }
        return nil
    }

    /// Starts to read at the positions of the store.
    private func begin(_ run: inout Run) throws(KafkaError) -> WorkerExit? {
        let all = partitions.map { TopicPartition(topic: topic, partition: $0) }
        let known = store.positions()
        var starts: [PartitionOffset] = []
        _ = try run.reader.describe(topic: topic, timeoutMilliseconds: Self.requestTimeout)
        for partition in all {
            let marks = try run.reader.watermarks(of: partition, timeoutMilliseconds: Self.requestTimeout)
            let position = known[partition.partition] ?? marks.low
            guard (marks.low...max(marks.low, marks.high)).contains(position) else { return Self.lost(store) }
            run.next[partition.partition] = position
            run.ends[partition.partition] = marks.high
            if position < marks.high { run.targets[partition.partition] = marks.high }
            starts.append(PartitionOffset(partition, offset: position))
        }
        try run.reader.start(starts)
        return nil
    }

    private static func lost(_ store: RegistryStore) -> WorkerExit {
        store.markDamaged()
        return WorkerExit(
            .tryAgain, "devices.topic does not have the next offset of the local copy of the registry",
            advice: "restart the worker, which reads devices.topic again from its start")
    }

    private func step(_ run: inout Run) -> WorkerExit? {
        let outcome = run.reader.poll(max: Self.batchRecords, timeoutMilliseconds: 200)
        for record in run.reader.records { add(record, &run) }
        for event in run.reader.events {
            switch event.kind {
            case .endOfPartition:
                run.next[event.partition] = max(run.next[event.partition] ?? 0, event.offset)
                run.targets[event.partition] = nil
            case .offsetOutOfRange: return Self.lost(store)
            case .authorization:
                return WorkerExit(
                    .denied, "the client's principal lacks Read on Topic \(topic)", advice: RightsText.advice)
            case .unknownTopic, .maxPollExceeded, .fatal, .other: continue
            }
        }
        _ = run.reader.takeEvents()
        if outcome.records > 0 {
            for (partition, offset) in run.next { run.batch.setPosition(partition, offset) }
            do throws(RegistryStoreError) {
                try store.apply(run.batch, now: SystemClock.wallMilliseconds())
            } catch {
                return RegistryCopy.exit(error)
            }
            run.batch.removeAll()
            run.reader.releaseBatch()
        }
        askEnds(&run)
        publish(&run, records: outcome.records)
        logMalformed(&run)
        return nil
    }

    private func add(_ record: ConsumedRecord, _ run: inout Run) {
        run.next[record.partition] = record.offset + 1
        if let target = run.targets[record.partition], record.offset + 1 >= target {
            run.targets[record.partition] = nil
        }
        guard let key = record.key, RegisteredDeviceReader.isID(key) else { return countMalformed(record, &run) }
        guard let value = record.value else {
            run.batch.delete(id: key)
            return
        }
        guard let device = run.devices.read(value) else { return countMalformed(record, &run) }
        run.batch.put(id: key, user: device.user, timestamp: record.timestamp, facts: device.facts)
    }

    /// The malformed records whose positions are logged in an interval.
    private static let loggedPositions: UInt64 = 5

    /// Counts a record that leaves the registry as it is, and logs the first ones of an interval.
    private func countMalformed(_ record: ConsumedRecord, _ run: inout Run) {
        run.malformed += 1
        guard run.malformed - run.logged <= Self.loggedPositions else { return }
        log.log(
            LogEntry(
                .warning, "devices.malformed", "a record of the registry is no valid device and changes nothing",
                [
                    LogField("topic", .text(topic)), LogField("partition", .number(Int64(record.partition))),
                    LogField("offset", .number(record.offset)),
                    LogField("advice", .text("write devices with `linkd produce --devices`, which checks them")),
                ]))
    }

    /// Begins a new interval of log lines about malformed records.
    private func logMalformed(_ run: inout Run) {
        let now = SystemClock.monotonicNanoseconds()
        guard run.malformed > run.logged else { return }
        guard let before = run.loggedAt else {
            run.loggedAt = now
            return
        }
        guard now.saturatingSubtract(before) >= Self.logInterval else { return }
        if run.malformed - run.logged > Self.loggedPositions {
            log.log(
                LogEntry(
                    .warning, "devices.malformed", "records of the registry are no valid devices and change nothing",
                    [LogField("count", .number(Int64(run.malformed - run.logged)))]))
        }
        run.logged = run.malformed
        run.loggedAt = nil
    }

    /// Asks for the stable ends of the partitions, so that the age of the copy is known.
    private func askEnds(_ run: inout Run) {
        let now = SystemClock.monotonicNanoseconds()
        guard now.saturatingSubtract(run.askedAt) >= Self.endInterval else { return }
        run.askedAt = now
        run.questions += 1
        if run.questions % Self.questionsBetweenTopics == 0 { findPartitions(&run) }
        let times = run.next.keys.sorted().map {
            PartitionOffset(TopicPartition(topic: topic, partition: $0), offset: LogicalOffset.end)
        }
        guard let results = try? run.reader.offsets(forTimes: times, timeoutMilliseconds: Self.requestTimeout) else {
            return
        }
        for result in results where result.error == nil {
            if let offset = result.offset, offset >= 0 { run.ends[result.partition.partition] = offset }
        }
        let isCurrent =
            results.allSatisfy { $0.error == nil }
            && run.ends.allSatisfy { (run.next[$0.key] ?? 0) >= $0.value }
        if isCurrent { state.withLock { $0.currentAt = now } }
    }

    /// Starts to read partitions that were added to the topic.
    private func findPartitions(_ run: inout Run) {
        guard let found = try? run.reader.describe(topic: topic, timeoutMilliseconds: Self.requestTimeout) else {
            return
        }
        for partition in found.partitions.map(\.id) where run.next[partition] == nil {
            let start = PartitionOffset(TopicPartition(topic: topic, partition: partition), offset: 0)
            guard (try? run.reader.start([start])) != nil else { continue }
            run.next[partition] = 0
        }
    }

    private func publish(_ run: inout Run, records: Int = 0) {
        let restored = run.next.count - run.targets.count
        let remaining = run.targets.reduce(Int64(0)) { $0 + max(0, $1.value - (run.next[$1.key] ?? 0)) }
        let (devices, bytes) = (store.count, store.bytes)
        let isFirst = state.signal { view in
            let wasRestored = view.isRestored
            view.partitions = max(view.partitions, run.next.count)
            view.restored = restored
            view.remaining = remaining
            view.records += Int64(records)
            view.devices = devices
            view.bytes = bytes
            view.malformed = run.malformed
            if view.isRestored, !wasRestored { view.currentAt = SystemClock.monotonicNanoseconds() }
            return view.isRestored && !wasRestored
        }
        guard isFirst else { return }
        log.log(
            LogEntry(
                .info, "devices.restored", "the registry of devices is restored",
                [LogField("topic", .text(topic)), LogField("devices", .count(devices))]))
    }
}
