internal import CPlatform
internal import DispatchWorker
internal import StrictJSON

/// The files in a state directory that name the records at which earlier processes ended: the journals of the lanes,
/// and the list of suspects.
///
/// Files with any other content are ignored.
struct CrashFiles: Sendable {
    /// The maximum number of lanes.
    private static let lanes = 64
    /// The size limit of the list in bytes.
    private static let listBytes = 1 << 17

    private let state: StateDirectory
    /// The suspects at the start of this process.
    let suspects: [CrashSuspect]

    /// Adds the marks of the journals to the list of suspects, writes the list, and removes the journals.
    ///
    /// An end between these steps counts twice. This is harmless, because only a trial decides.
    init(_ state: StateDirectory, log: Log) {
        self.state = state
        Platform.makeDirectory(state.file("journal"))
        let paths = (0..<Self.lanes).map { state.file("journal/\($0)") }
        let marks = paths.compactMap { CrashJournal.mark(at: $0) }
        suspects = CrashSuspects.merged(Self.list(at: state.file("crashes.json")), marks)
        if !marks.isEmpty { Self.save(suspects, state, log) }
        for path in paths { Platform.remove(path) }
        for suspect in suspects where marks.contains(suspect.mark) {
            log.log(
                .warning, "crash.found", "an earlier process ended while it resolved this record",
                Self.fields(of: suspect.mark) + ["deaths": .count(suspect.deaths)])
        }
    }

    /// Returns the fields of a record's position.
    static func fields(of mark: CrashMark) -> LogFields {
        ["topic": .text(mark.topic), "partition": .number(Int64(mark.partition)), "offset": .number(mark.offset)]
    }

    /// Returns the isolation of a worker that serves these tables and was started with this command line.
    func isolation(of tables: ServedTables, _ call: Invocation, log: Log) -> CrashIsolation {
        let (state, child) = (state, RecordTrial(words: call.words, environment: call.environment))
        return CrashIsolation(
            suspects: CrashSuspects(suspects) { Self.save($0, state, log) },
            journal: { lane in
                if let journal = CrashJournal(path: state.file("journal/\(lane)")) { return journal }
                Self.logUnsaved(SystemError.last, log)
                return nil
            },
            trial: { record, devices in
                let began = SystemClock.monotonicNanoseconds()
                let version = tables.current()
                let result = child.run(
                    record, tables: version.entries.map(\.hash), candidate: version.canaryEntry?.hash,
                    devices: devices)
                let milliseconds = (SystemClock.monotonicNanoseconds() - began) / 1_000_000
                log.log(Self.entry(result, record.mark, Int64(milliseconds)))
                return result
            })
    }

    private static func entry(_ result: CrashTrial, _ mark: CrashMark, _ milliseconds: Int64) -> LogEntry {
        let fields = fields(of: mark) + ["ms": .number(milliseconds)]
        return switch result {
        case .passed:
            LogEntry(.info, "crash.passed", "a child process has resolved the record", fields)
        case .crashed(let signal):
            LogEntry(
                .error, "crash.loop", "the record ends every process that resolves it, and becomes a dead letter",
                fields + ["signal": .number(Int64(signal))])
        case .failed(let reason):
            LogEntry(
                .warning, "crash.untried", "the record could not be tried in a child process, and is resolved as usual",
                fields + ["reason": .text(reason)])
        }
    }

    private static func list(at path: String) -> [CrashSuspect] {
        let bytes = [UInt8](unsafeUninitializedCapacity: listBytes) { buffer, count in
            count = max(0, linkd_read_regular_file(path, buffer.baseAddress, UInt(buffer.count)))
        }
        let values = (try? JSONValue.parse(bytes))?["suspects"]?.array ?? []
        return values.prefix(CrashSuspects.limit).compactMap { value in
            guard let topic = value["topic"]?.string,
                let partition = value["partition"]?.integer.flatMap(Int32.init(exactly:)),
                let offset = value["offset"]?.integer,
                let deaths = value["deaths"]?.integer.flatMap(Int.init(exactly:)), deaths > 0
            else { return nil }
            let mark = CrashMark(topic: topic, partition: partition, offset: offset)
            return mark.isValid ? CrashSuspect(mark, deaths: deaths) : nil
        }
    }

    private static func save(_ suspects: [CrashSuspect], _ state: StateDirectory, _ log: Log) {
        let text = JSONText.object { json in
            json.objects("suspects", of: suspects) { json, suspect in
                json.text("topic", suspect.mark.topic)
                json.number("partition", Int64(suspect.mark.partition))
                json.number("offset", suspect.mark.offset)
                json.number("deaths", Int64(suspect.deaths))
            }
        }
        let error = Platform.replaceFile(state.file("crashes.json"), with: Array(text.utf8))
        if let error { logUnsaved(error, log) }
    }

    private static func logUnsaved(_ error: SystemError, _ log: Log) {
        log.log(
            .warning, "crashes.unsaved",
            "state.dir cannot be written, so that records at which the process ends may not be found",
            ["reason": .text(error.text), "advice": "free space in state.dir, or allow this user to write there"])
    }
}
