package import ByteStorage
package import LinkDecider
package import LinkIngest
internal import Synchronization

/// The isolation of records whose resolution ends the process.
///
/// A record that a process was resolving at two unclean ends is resolved in a child process first. It becomes a dead
/// letter only if a signal of its own ends the child too.
package struct CrashIsolation: Sendable {
    /// The records that are resolved in a child process first.
    package var suspects: CrashSuspects
    /// Creates the journal of a lane, or returns nil if it cannot be written.
    package var journal: @Sendable (_ lane: Int) -> CrashJournal?
    /// Resolves a record in a child process, with the devices that the lane of the record knows, if any.
    package var trial: @Sendable (TriedRecord, (any KnownDevices)?) -> CrashTrial

    /// Creates the isolation of a worker.
    package init(
        suspects: CrashSuspects, journal: @escaping @Sendable (_ lane: Int) -> CrashJournal?,
        trial: @escaping @Sendable (TriedRecord, (any KnownDevices)?) -> CrashTrial
    ) {
        self.suspects = suspects
        self.journal = journal
        self.trial = trial
    }
}

/// The result of resolving a record in a child process.
package enum CrashTrial: Sendable, Equatable {
    /// The record was resolved.
    case passed
    /// A signal that the record caused has ended the child process.
    case crashed(signal: Int32)
    /// The trial proves nothing, for example because the child process was killed from outside or took too long.
    case failed(String)
}

/// A record that a process was resolving when it ended.
package struct CrashSuspect: Sendable, Equatable {
    /// The number of ends after which a record is resolved in a child process first.
    package static let triedDeaths = 2

    /// The record's position.
    package var mark: CrashMark
    /// The number of processes that ended while they resolved the record, at most the maximum of `Int32`.
    package let deaths: Int

    /// Creates a suspect.
    package init(_ mark: CrashMark, deaths: Int) {
        self.mark = mark
        self.deaths = min(deaths, Int(Int32.max))
    }
}

/// The records that were resolved when earlier processes ended, and the results of their trials.
///
/// All lanes share it, because a partition may move to another lane.
package final class CrashSuspects: Sendable {
    /// The maximum number of suspects: four for each of up to 64 lanes.
    package static let limit = 256

    /// A suspect with the result of its trial, or nil before it.
    package struct Entry: Sendable, Equatable {
        package var suspect: CrashSuspect
        /// The result.
        package var trial: CrashTrial?
    }

    private let entries: Mutex<[Entry]>
    private let save: @Sendable ([CrashSuspect]) -> Void

    /// Creates a list.
    ///
    /// `save` is called with the suspects that remain after one has passed its trial.
    package init(_ suspects: [CrashSuspect], save: @escaping @Sendable ([CrashSuspect]) -> Void = { _ in }) {
        entries = Mutex(suspects.map { Entry(suspect: $0) })
        self.save = save
    }

    /// The suspects that are not resolved as usual.
    package var tried: [Entry] {
        entries.withLock { entries in
            entries.filter { entry in
                if case .failed = entry.trial { return false }
                return entry.suspect.deaths >= CrashSuspect.triedDeaths
            }
        }
    }

    /// Records the result of a trial.
    ///
    /// A record that has passed is no longer a suspect. The result of any other record is valid until the process ends,
    /// so a record is tried only once, even if its transaction is aborted.
    package func record(_ trial: CrashTrial, of mark: CrashMark) {
        let remaining = entries.withLock { entries -> [CrashSuspect]? in
            guard let index = entries.firstIndex(where: { $0.suspect.mark == mark }) else { return nil }
            guard trial == .passed else {
                entries[index].trial = trial
                return nil
            }
            entries.remove(at: index)
            return entries.map(\.suspect)
        }
        if let remaining { save(remaining) }
    }

    /// Returns the suspects after a process has left these marks, sorted by the number of deaths, and then the newest
    /// first.
    package static func merged(_ known: [CrashSuspect], _ marks: [CrashMark]) -> [CrashSuspect] {
        var result = Set(marks).sorted { $0.text < $1.text }.map { mark in
            let before = known.first { $0.mark == mark }?.deaths ?? 0
            return CrashSuspect(mark, deaths: before + 1)
        }
        result += known.filter { !marks.contains($0.mark) }
        // The sort is stable: among suspects with equally many deaths, the limit keeps the newest.
        return Array(result.sorted { $0.deaths > $1.deaths }.prefix(limit))
    }
}

/// A record that is resolved in a child process, with its own bytes.
package struct TriedRecord: Sendable, Equatable {
    /// The record's position.
    package var mark: CrashMark
    /// The timestamp in milliseconds since 1970, or -1.
    package var timestamp: Int64
    /// The key, or nil if the record has none.
    package var key: [UInt8]?
    /// The value, or nil for a tombstone.
    package var value: [UInt8]?
    package var headers: [RecordHeader]

    /// Creates a record.
    package init(mark: CrashMark, timestamp: Int64, key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) {
        self.mark = mark
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Resolves the record as a lane does, and discards the decisions.
    package func resolve(with decider: inout Decider) {
        var input = OutputArena(chunkBytes: 1 << 20)
        func view(_ bytes: [UInt8]) -> ByteView {
            input.begin()
            input.append(bytes)
            return input.finish()
        }
        let topic = view(Array(mark.topic.utf8))
        let views = headers.map { HeaderView(name: view($0.name), value: $0.value.map(view)) }
        let record = ConsumedRecord(
            topic: 0, partition: mark.partition, offset: mark.offset, timestamp: timestamp, key: key.map(view),
            value: value.map(view), index: 0, hasHeaders: !headers.isEmpty)
        #if DEBUG
        TestCrash.crash(at: topic, record)
        #endif
        var outputs = OutputArena(chunkBytes: 1 << 20)
        var decisions: [ProducedDecision] = []
        _ = decider.decide(record, headers: views, topicName: topic, into: &outputs, decisions: &decisions)
    }
}
