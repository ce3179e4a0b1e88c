internal import ByteStorage
internal import Foundation
internal import LinkdFuzz

/// Devices with ids of 36 bytes and five facts.
struct RegistryDevices {
    let count: Int
    private var bytes: [UInt8] = []
    private var ends: [Int] = [0]
    private static let idBytes = 36

    init(count: Int, seed: UInt64) {
        self.count = count
        var random = RandomSource(seed: seed)
        bytes.reserveCapacity(count * 140)
        for _ in 0..<count {
            let digits = [random.next(), random.next()].map { $0.hexadecimal(digits: 16) }.joined()
            for (index, digit) in digits.utf8.enumerated() {
                if [8, 12, 16, 20].contains(index) { bytes.append(UInt8(ascii: "-")) }
                bytes.append(digit)
            }
            let number = random.next()
            let platform = number & 1 == 0 ? "ios" : "android"
            bytes += Array(
                #"{"platform":"\#(platform)","app":"\#(number >> 8 & 7).\#(number >> 16 & 15).0","#.utf8)
            bytes += Array(#""os":"\#(number >> 24 & 15).2","locale":"en-GB","region":"GB"}"#.utf8)
            ends.append(bytes.count)
        }
    }

    /// Returns a JSON object's members with a device.
    func text(_ index: Int, before: String, after: String, hasFacts: Bool = true) -> String {
        with(index) { id, value in
            let facts = hasFacts ? "," + value.slice(1, value.count - 1).string : ""
            return before + #""id":"\#(id.string)""# + facts + after
        }
    }

    func with<Result>(_ index: Int, _ body: (_ id: ByteView, _ value: ByteView) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBufferPointer { all in
            let view = ByteView(all)
            let start = ends[index]
            return try body(
                view.slice(start, start + Self.idBytes), view.slice(start + Self.idBytes, ends[index + 1]))
        }
    }
}

/// The CPU times of two workers: one joins devices, and the events of the other one state the same facts.
struct JoinBenchmark {
    private static let events = 300_000

    private let options: BenchmarkOptions
    private let joined: MeasuredTopics
    private let stated: MeasuredTopics
    private let folder: String

    /// Creates the topics, and fills them with the devices and with events for random ones of them.
    ///
    /// - Parameter folder: A directory for files and for the worker's state.
    init(_ devices: RegistryDevices, _ options: BenchmarkOptions, broker: String, folder: String) throws {
        self.options = options
        self.folder = folder
        joined = MeasuredTopics("joined", broker: broker)
        stated = MeasuredTopics("stated", broker: broker)
        try PeerProgram.run(joined.linkd, ["topics", "create", "--partitions", "6", "-q"] + registry + joined.flags)
        try stated.create()
        let file = folder + "/lines.jsonl"
        let all = 0..<devices.count
        try write(all, to: file) { index in devices.text(index, before: "{", after: "}") }
        try PeerProgram.run(joined.linkd, ["produce", "-b", broker, "-q", "--devices", file] + registry)
        var random = RandomSource(seed: options.seed &+ 2)
        let indexes = (0..<Self.events).map { _ in Int(truncatingIfNeeded: random.next() % UInt64(devices.count)) }
        let start = #"{"id":"e-1","link":"\#(RegistryBenchmark.link)","device":{"#
        try write(indexes, to: file) { index in devices.text(index, before: start, after: "}}", hasFacts: false) }
        try joined.produce(file)
        try write(indexes, to: file) { index in devices.text(index, before: start, after: "}}") }
        try stated.produce(file)
    }

    private var registry: [String] { ["--devices-topic", "\(joined.name)-devices"] }

    private func write(_ indexes: some Sequence<Int>, to file: String, _ line: (Int) -> String) throws {
        var text = Data()
        for index in indexes { text.append(Data((line(index) + "\n").utf8)) }
        try text.write(to: URL(filePath: file))
    }

    /// Runs both workers in turns, after a run of each that is not counted and restores the copy.
    func run(_ report: Report) throws {
        report.heading("a worker, one lane (\(Self.events) records, \(options.rounds) rounds)")
        var (with, without): ([Double], [Double]) = ([], [])
        for round in 0...options.rounds {
            // The order changes, because the second run of a pair may find more in the broker's cache.
            for isJoined in round.isMultiple(of: 2) ? [true, false] : [false, true] {
                let topics = isJoined ? joined : stated
                let flags = isJoined ? registry + ["--state-dir", folder + "/state"] : []
                let arguments = topics.worker("\(topics.name)-\(round)", options, stopAfter: Self.events)
                let cpu = try WorkerBenchmark.cpu(PeerProgram.run(topics.linkd, arguments + flags))
                if round > 0, isJoined { with.append(cpu) } else if round > 0 { without.append(cpu) }
            }
        }
        report.figure(
            "CPU per record with a join", unit: "µs", with, baseline: ("facts in the event", without), bound: 1.4)
    }
}
