internal import ByteStorage
internal import CPlatform
internal import DeviceRegistry
internal import KafkaClient
internal import LinkIngest
internal import SystemThreads

/// The reader of the registry's topic, which writes what it reads to the store.
///
/// One thread runs it.
final class RegistryTopicReader: Sendable {
    /// The limit of the records of a poll.
    private static let pollRecords = 4_000
    /// The interval at which the ends of the partitions are asked for, in nanoseconds.
    private static let endInterval: UInt64 = 5_000_000_000
    /// The interval of log lines about malformed records, in nanoseconds.
    private static let logInterval: UInt64 = 60_000_000_000
    /// The interval at which the age of the store is saved without other changes, in milliseconds.
    private static let saveInterval: Int64 = 600_000
    /// The least time for which the copy can be behind after it was current, in milliseconds.
    private static let leastRetention: Int64 = 60_000
    /// The time of a step after which the last records are read again, in nanoseconds: a process that is stopped loses
    /// no connection.
    private static let longStep: UInt64 = 1_000_000_000
    /// The time in nanoseconds in which compaction hardly comes to records that were just written.
    ///
    /// It doubles with each question for the ends, so that a topic that is written all the time is restored.
    private static let soon: UInt64 = 1_000_000_000
    /// The time limit of a request, in milliseconds.
    private static let requestTimeout: Int32 = 5_000

    private let topic: String
    /// The presumed principal in messages.
    private let principal: String
    private let facts: RegistryFacts
    /// A Boolean value that indicates whether the library and the brokers have ids of topics.
    private let hasTopicIDs: Bool
    private let members: DeviceMembers
    /// The time for which the topic keeps deletions, in milliseconds.
    private let retention: Int64
    private let store: RegistryStore
    private let log: Log
    private let state: Monitor<RegistryView>

    init(
        topic: String, principal: String, facts: RegistryFacts, hasTopicIDs: Bool, members: DeviceMembers,
        store: RegistryStore, log: Log, state: Monitor<RegistryView>
    ) {
        let (milliseconds, isFar) = facts.retention.multipliedReportingOverflow(by: 1000)
        retention = isFar ? .max : milliseconds
        self.topic = topic
        self.principal = principal
        self.facts = facts
        self.hasTopicIDs = hasTopicIDs
        self.members = members
        self.store = store
        self.log = log
        self.state = state
    }

    /// The state of the thread.
    private struct Run: ~Copyable {
        let reader: KafkaReader
        var devices: RegisteredDeviceReader
        var batch = RegistryBatch()
        /// The next offset of each partition.
        var next: [Int32: Int64] = [:]
        /// The last time at which everything up to the ends was read, in milliseconds since 1970.
        var current: Int64
        /// The time at which the store last got the time above, in milliseconds since 1970.
        var saved: Int64
        /// The time at which the id of the topic is asked for again after a question without an answer.
        var idDue: UInt64 = 0
        /// A Boolean value that indicates whether everything up to the ends was read since the start.
        var wasCurrent = false
        /// A Boolean value that indicates whether nothing is missing that the topic had at the start.
        var isRestored = false
        /// The time at which the present ends were last asked for, which then are the targets, or nil before.
        var extendedAt: UInt64?
        /// The time in which these ends have to be reached.
        var soon = RegistryTopicReader.soon
        /// The id of the topic, or an empty text if it is unknown.
        var topicID: String
        /// A Boolean value that indicates whether the topic was missing.
        var isGone = false
        /// A Boolean value that indicates whether the topic may have been created again since the last poll.
        var isDoubtful = false
        /// The time at which the last step, or the last transaction of a batch, was noted.
        var steppedAt: UInt64?
        /// A Boolean value that indicates whether a step was long since the last poll.
        var hadLongStep = false
        /// The stable ends that have to be reached, or the greatest number for a partition that seemed to be read at
        /// the start and whose end was not reported yet.
        var targets: [Int32: Int64] = [:]
        /// The last record of each partition that the store has, until it was read again.
        var witnesses: [Int32: RegistryWitness] = [:]
        /// The first offsets of partitions from which retention has removed records.
        var lows: [Int32: Int64] = [:]
        var askedAt: UInt64 = 0
        /// The age without records of open transactions, by which a worker ends: the topic keeps deletions behind them.
        var stableAge = RegistryAge()
        var age = RegistryAge()
        var malformed: UInt64 = 0
        var loggedAt: UInt64?
        var logged: UInt64 = 0

        init(_ reader: KafkaReader, _ members: DeviceMembers, topicID: String, current: Int64) {
            self.reader = reader
            self.topicID = topicID
            self.current = current
            saved = current
            devices = RegisteredDeviceReader(members)
        }

        /// Notes that a step has ended, and how long it was.
        mutating func noteStep() {
            let now = SystemClock.monotonicNanoseconds()
            if let steppedAt, now.saturatingSubtract(steppedAt) > RegistryTopicReader.longStep { hadLongStep = true }
            steppedAt = now
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
        var run = Run(reader, members, topicID: facts.topicID, current: store.updated)
        defer {
            run.reader.close()
            // The next start counts the age of the store from here.
            _ = save(&run)
        }
        var failedAt: UInt64?
        while !thread.isStopped {
            do {
                if let exit = try begin(&run, thread) { return exit }
                break
            } catch {
                _ = run.reader.takeEvents()
                let now = SystemClock.monotonicNanoseconds()
                if failedAt.map({ now.saturatingSubtract($0) >= Self.logInterval }) ?? true {
                    failedAt = now
                    logFailure(error)
                }
                _ = thread.sleep(milliseconds: 200)
            }
        }
        while !thread.isStopped {
            if let exit = step(&run) { return exit }
        }
        return nil
    }

    /// Starts to read at the positions of the store, and returns the exit if the topic does not have them.
    private func begin(_ run: inout Run, _ thread: StoppableThread) throws(KafkaError) -> WorkerExit? {
        let all = facts.partitions.map { TopicPartition(topic: topic, partition: $0) }
        let known = store.positions()
        let witnesses = store.witnesses()
        var starts: [PartitionOffset] = []
        _ = try run.reader.describe(topic: topic, timeoutMilliseconds: Self.requestTimeout)
        let lows = try ends(of: all, LogicalOffset.beginning, run.reader)
        let highs = try ends(of: all, LogicalOffset.end, run.reader)
        for partition in all {
            guard let low = lows[partition], let high = highs[partition] else { throw KafkaError(code: .timedOut) }
            let position = known[partition.partition] ?? low
            guard (low...max(low, high)).contains(position) else { return Self.lost(store) }
            run.next[partition.partition] = position
            run.targets[partition.partition] = position < high ? high : .max
            var start = position
            if let witness = witnesses[partition.partition], (low..<max(low, position)).contains(witness.offset) {
                // A topic that was created again has another record there, or none if it was compacted since.
                run.witnesses[partition.partition] = witness
                start = witness.offset
            }
            starts.append(PartitionOffset(partition, offset: start))
        }
        log.log(
            .info, "devices.restoring", "reading the registry of devices",
            ["topic": .text(topic), "devices": .count(store.count), "offsets": .number(Self.remaining(run))])
        publish(&run)
        #if DEBUG
        TestGate.wait(while: { !thread.isStopped })
        #endif
        try run.reader.start(starts)
        return nil
    }

    /// Returns the first offsets or the stable ends of partitions, without those that were not reported.
    private func ends(
        of partitions: [TopicPartition], _ end: Int64, _ reader: KafkaReader
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        try reader.offsets(of: partitions, atOrAfter: end, timeoutMilliseconds: Self.requestTimeout)
    }

    private func logFailure(_ error: KafkaError) {
        log.log(
            .warning, "devices.unreachable", "the registry of devices cannot be read",
            [
                "topic": .text(topic), "error": .text(error.name),
                "advice": "check the brokers and the topic with `linkd doctor`",
            ])
    }

    /// Returns the exit for a copy that must be read again.
    private static func lost(
        _ store: RegistryStore,
        _ reason: String = "devices.topic does not have the records that the local copy of the registry was read from"
    ) -> WorkerExit {
        store.markDamaged()
        return WorkerExit(
            .tryAgain, reason, advice: "restart the worker, which reads devices.topic again from its start")
    }

    private func step(_ run: inout Run) -> WorkerExit? {
        let outcome = run.reader.poll(max: Self.pollRecords, timeoutMilliseconds: 200)
        let polledAt = SystemClock.monotonicNanoseconds()
        let doubted = takeDoubts(&run)
        var last: [Int32: Int] = [:]
        for (index, record) in run.reader.records.enumerated() where !doubted.contains(record.partition) {
            if record.offset < run.next[record.partition] ?? 0 {
                let witness = run.witnesses[record.partition]
                if let witness, witness.offset == record.offset, witness != Self.witness(of: record) {
                    return Self.lost(store)
                }
                if witness?.offset == record.offset { run.witnesses[record.partition] = nil }
                continue
            }
            add(record, &run)
            last[record.partition] = index
        }
        for event in run.reader.events where !doubted.contains(event.partition) {
            if let exit = handle(event, &run) { return exit }
        }
        _ = run.reader.takeEvents()
        if outcome.records > 0 {
            for (partition, offset) in run.next { run.batch.setPosition(partition, offset) }
            for (partition, index) in last {
                run.batch.setWitness(partition, Self.witness(of: run.reader.records[index]))
            }
            run.reader.releaseBatch()
        }
        let isDue = run.isRestored || outcome.records == 0 || !doubted.isEmpty || Self.unread(run).isEmpty
        if !run.batch.isEmpty, isDue || run.batch.isFull, let exit = save(&run) { return exit }
        if let exit = returnToWitnesses(of: doubted, &run) ?? noteRestored(&run, polledAt: polledAt) ?? askEnds(&run) {
            return exit
        }
        publish(&run, records: outcome.records)
        logMalformed(&run)
        return nil
    }

    /// Handles an event, and returns the exit if the reader cannot go on.
    private func handle(_ event: ConsumerEvent, _ run: inout Run) -> WorkerExit? {
        switch event.kind {
        case .endOfPartition:
            if run.witnesses[event.partition] != nil, event.offset < run.next[event.partition] ?? 0 {
                return readAgain(event.partition, &run)
            }
            run.next[event.partition] = max(run.next[event.partition] ?? 0, event.offset)
            // An end before the target is older than the target, or records were lost. The brokers are asked again.
            if event.offset < run.targets[event.partition] ?? 0 { run.extendedAt = nil }
            run.targets[event.partition] = nil
            run.witnesses[event.partition] = nil
        case .offsetOutOfRange: return readAgain(event.partition, &run)
        case .authorization:
            return WorkerExit(.denied, "\(principal) lacks Read on Topic \(topic)", advice: RightsText.advice)
        case .unknownTopic: noteMissing(&run)
        case .fatal:
            return WorkerExit(
                .tryAgain, "the reader of devices.topic failed: \(event.error?.text ?? "no reason")",
                advice: "start the worker again")
        case .maxPollExceeded, .other: break
        }
        return nil
    }

    private func noteMissing(_ run: inout Run) {
        if run.isGone { return }
        run.isGone = true
        log.log(
            .warning, "devices.missing", "the registry of devices is missing",
            ["topic": .text(topic), "advice": "create the topic again, and write all devices to it"])
    }

    private static func witness(of record: ConsumedRecord) -> RegistryWitness {
        let witness = Witness(record)
        return RegistryWitness(offset: witness.offset, timestamp: witness.timestamp, hash: witness.hash)
    }

    private func add(_ record: ConsumedRecord, _ run: inout Run) {
        run.next[record.partition] = record.offset + 1
        run.witnesses[record.partition] = nil
        if let target = run.targets[record.partition], target == .max || record.offset + 1 >= target {
            run.targets[record.partition] = nil
        }
        guard let key = record.key, RegisteredDeviceReader.isID(key) else { return countMalformed(record, &run) }
        guard let value = record.value else {
            run.batch.delete(id: key)
            return
        }
        guard let device = run.devices.read(value) else {
            // The last valid record of a device counts. While the copy catches up, compaction can have removed it, or
            // a deletion, because of this record.
            if isBehind(run) { run.batch.delete(id: key) }
            return countMalformed(record, &run)
        }
        run.batch.put(id: key, user: device.user, timestamp: record.timestamp, facts: device.facts)
    }

    /// Returns a Boolean value that indicates whether compaction can have removed records that were not read yet.
    private func isBehind(_ run: borrowing Run) -> Bool {
        !run.isRestored || SystemClock.wallMilliseconds() - run.current > Self.leastRetention
    }

    /// The malformed records whose positions are logged in an interval.
    private static let loggedPositions: UInt64 = 5

    /// Counts a record that is no valid device, and logs the first ones of an interval.
    private func countMalformed(_ record: ConsumedRecord, _ run: inout Run) {
        run.malformed += 1
        guard run.malformed - run.logged <= Self.loggedPositions else { return }
        log.log(
            .warning, "devices.malformed", "a record of the registry is no valid device",
            [
                "topic": .text(topic), "partition": .number(Int64(record.partition)), "offset": .number(record.offset),
                "advice": "write devices with `linkd produce --devices`, which checks them",
            ])
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
                .warning, "devices.malformed", "records of the registry are no valid devices",
                ["count": .number(Int64(run.malformed - run.logged))])
        }
        run.logged = run.malformed
        run.loggedAt = nil
    }

    /// Asks for the partitions and their ends, so that the age of the copy is known.
    ///
    /// A copy that is behind for longer than the topic keeps deletions could keep deleted devices, and a topic that was
    /// created again has other records, so both are read again from the start.
    private func askEnds(_ run: inout Run) -> WorkerExit? {
        let now = SystemClock.monotonicNanoseconds()
        guard now.saturatingSubtract(run.askedAt) >= Self.endInterval else { return nil }
        run.askedAt = now
        let wall = SystemClock.wallMilliseconds()
        if let exit = compareID(&run) { return exit }
        guard let ends = findEnds(&run) else { return nil }
        // A broker that has just started can miss a topic for a moment.
        if run.isGone { (run.isGone, run.isDoubtful) = (false, true) }
        if run.wasCurrent, wall - run.current > max(retention, Self.leastRetention) {
            return Self.lost(store, "the local copy of the registry was behind for longer than delete.retention.ms")
        }
        if let reached = run.stableAge.reached(by: run.next, RegistryAge.Question(ends: ends, wall: wall, at: now)) {
            run.wasCurrent = true
            run.current = reached.wall
        }
        let all = withOpenTransactions(ends, run.reader)
        if let reached = run.age.reached(by: run.next, RegistryAge.Question(ends: all, wall: wall, at: now)) {
            state.withLock { $0.currentAt = reached.at }
        }
        guard wall - run.saved >= Self.saveInterval, run.saved != run.current else { return nil }
        return save(&run)
    }

    /// Writes what was read and the time at which everything was read to the store, and returns the exit if that fails.
    private func save(_ run: inout Run) -> WorkerExit? {
        var batch = RegistryBatch()
        swap(&batch, &run.batch)
        do throws(RegistryStoreError) {
            // A large batch takes long. A pause of the process is noticed nevertheless.
            try store.apply(batch, now: run.current, isRestoring: !run.isRestored) { run.noteStep() }
        } catch {
            // The worker has stopped, and does not wait for a large batch.
            if case .closed = error { return nil }
            return WorkerExit(error)
        }
        run.saved = run.current
        batch.removeAll()
        swap(&batch, &run.batch)
        return nil
    }

    /// Returns the stable ends of all partitions, or nil if the brokers do not answer.
    ///
    /// Partitions that were added to the topic are read from now on.
    private func findEnds(_ run: inout Run) -> [Int32: Int64]? {
        guard let description = try? run.reader.describe(topic: topic, timeoutMilliseconds: Self.requestTimeout)
        else { return nil }
        if !description.exists { noteMissing(&run) }
        guard description.error == nil, !description.partitions.isEmpty else { return nil }
        for partition in description.partitions.map(\.id) where run.next[partition] == nil {
            let start = PartitionOffset(
                TopicPartition(topic: topic, partition: partition), offset: LogicalOffset.beginning)
            guard (try? run.reader.start([start])) != nil else { return nil }
            run.next[partition] = 0
            log.log(
                .warning, "devices.partitions", "the registry of devices has a new partition",
                [
                    "topic": .text(topic), "partition": .number(Int64(partition)),
                    "advice": "write all devices again: records in two partitions have no order",
                ])
        }
        return findStableEnds(run)
    }

    /// Returns the stable ends of the partitions that are read, or nil if the brokers do not answer.
    private func findStableEnds(_ run: borrowing Run) -> [Int32: Int64]? {
        let partitions = run.next.keys.sorted().map { TopicPartition(topic: topic, partition: $0) }
        guard let ends = try? ends(of: partitions, LogicalOffset.end, run.reader) else { return nil }
        guard ends.count == partitions.count else { return nil }
        return Dictionary(uniqueKeysWithValues: ends.map { ($0.key.partition, $0.value) })
    }

    /// Returns stable ends with the records of open transactions, which cannot be read yet.
    private func withOpenTransactions(_ ends: [Int32: Int64], _ reader: KafkaReader) -> [Int32: Int64] {
        var all = ends
        for (number, end) in ends {
            let partition = TopicPartition(topic: topic, partition: number)
            all[number] = max(end, reader.cachedWatermarks(of: partition)?.high ?? end)
        }
        return all
    }

    /// Returns the number of offsets that are left until all partitions are restored.
    private static func remaining(_ run: borrowing Run) -> Int64 {
        run.targets.reduce(Int64(0)) { sum, target in
            target.value == .max ? sum : sum + max(0, target.value - (run.next[target.key] ?? 0))
        }
    }

    /// Returns the partitions that are not restored.
    private static func unread(_ run: borrowing Run) -> Set<Int32> {
        Set(run.targets.keys).union(run.witnesses.keys)
    }

    /// Reads on to the present ends after everything was read that the topic had at the start, and returns the exit if
    /// there are too many devices then.
    ///
    /// Compaction can remove a record of a device before it is read, because of a later one that was not there at the
    /// start. So the device is unknown until that one is read. Nothing is missing when the present ends are reached,
    /// or soon after them: compaction leaves the newest records alone.
    ///
    /// Before, the limit of devices does not count, because deletions can follow that are not compacted yet.
    ///
    /// - Parameter polledAt: The time at which the last records were read.
    private func noteRestored(_ run: inout Run, polledAt: UInt64) -> WorkerExit? {
        guard !run.isRestored, Self.unread(run).isEmpty else { return nil }
        if run.extendedAt.map({ polledAt.saturatingSubtract($0) > run.soon }) ?? true {
            let now = SystemClock.monotonicNanoseconds()
            guard let ends = findStableEnds(run) else { return nil }
            if run.extendedAt != nil { run.soon *= 2 }
            run.extendedAt = now
            run.targets = ends.filter { $0.value > run.next[$0.key] ?? 0 }
            if !run.targets.isEmpty { return nil }
        }
        run.isRestored = true
        // The memory of a large batch is not needed any more.
        run.batch = RegistryBatch()
        do throws(RegistryStoreError) {
            try store.checkCount()
            return nil
        } catch {
            return WorkerExit(error)
        }
    }

    private func publish(_ run: inout Run, records: Int = 0) {
        // The ends are asked for again after the last partition was read.
        let restored = run.isRestored ? run.next.count : run.next.count - max(Self.unread(run).count, 1)
        let remaining = Self.remaining(run)
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
            .info, "devices.restored", "the registry of devices is restored",
            ["topic": .text(topic), "devices": .count(devices)])
        // The records that waited in the client's queue took most of the memory.
        linkd_release_freed_memory()
    }
}

// A topic that was deleted and created again looks alike to a client. After anything that can hide it, the last record
// that was read of each partition is read again, as at the start.
extension RegistryTopicReader {
    /// Returns the partitions whose records of this poll may come from a topic that was created again.
    private func takeDoubts(_ run: inout Run) -> Set<Int32> {
        run.noteStep()
        let isLong = run.hadLongStep
        run.hadLongStep = false
        let interruptions = run.reader.takeInterruptions()
        defer { run.isDoubtful = false }
        if run.isDoubtful || interruptions.isConnectionLost { return Set(run.next.keys) }
        var doubted = Set(interruptions.refused.filter { $0.topic == topic }.map(\.partition))
        // On a machine that is too busy, all steps can be long. A partition that is in doubt is read nevertheless.
        if isLong { doubted.formUnion(run.next.keys.filter { run.witnesses[$0] == nil }) }
        return doubted
    }

    /// Reads partitions again from the last record that the store has of them.
    private func returnToWitnesses(of partitions: Set<Int32>, _ run: inout Run) -> WorkerExit? {
        if partitions.isEmpty { return nil }
        let known = store.witnesses()
        for number in partitions {
            guard let next = run.next[number] else { continue }
            let partition = TopicPartition(topic: topic, partition: number)
            let witness = known[number].flatMap { $0.offset >= run.lows[number] ?? 0 ? $0 : nil }
            run.witnesses[number] = witness
            do throws(KafkaError) {
                try run.reader.stop([partition])
                try run.reader.start([PartitionOffset(partition, offset: witness?.offset ?? next)])
            } catch {
                return WorkerExit(
                    .tryAgain, "the reader of devices.topic failed: \(error.text)", advice: "start the worker again")
            }
        }
        return nil
    }

    /// Reads a partition again that seems not to have the records that were read, or returns the exit if its ends say
    /// so too.
    ///
    /// A topic that was created again can end before the records that were read. So can a new leader or a follower, but
    /// only for a moment: a leader does not tell its ends before it knows them. Retention can have removed the last
    /// record.
    private func readAgain(_ number: Int32, _ run: inout Run) -> WorkerExit? {
        let partition = TopicPartition(topic: topic, partition: number)
        if let low = try? ends(of: [partition], LogicalOffset.beginning, run.reader)[partition],
            let high = try? ends(of: [partition], LogicalOffset.end, run.reader)[partition]
        {
            guard let next = run.next[number], (low...max(low, high)).contains(next) else { return Self.lost(store) }
            run.lows[number] = low
        }
        // While the store is restored, it may not have the last records yet.
        if !run.batch.isEmpty, let exit = save(&run) { return exit }
        return returnToWitnesses(of: [number], &run)
    }

    /// Compares the id of the topic, where there are ids, and returns the exit for another topic.
    ///
    /// A question without an answer holds the reader up, so it is repeated after a minute.
    private func compareID(_ run: inout Run) -> WorkerExit? {
        guard hasTopicIDs, SystemClock.monotonicNanoseconds() >= run.idDue else { return nil }
        guard let ids = try? run.reader.topicIDs(of: [topic], timeoutMilliseconds: Self.requestTimeout) else {
            run.idDue = SystemClock.monotonicNanoseconds() + 60_000_000_000
            return nil
        }
        guard let id = ids[topic] else { return nil }
        if run.topicID.isEmpty { run.topicID = id }
        guard run.topicID == id else {
            return Self.lost(store, "devices.topic was deleted and created again")
        }
        return nil
    }
}
