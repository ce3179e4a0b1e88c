internal import DispatchWorker
internal import LinkCoordinator
internal import LinkIngest
internal import ByteStorage
internal import StrictJSON

/// A comparison of two tables by recorded links and events.
///
/// A class for the same reason as `Explainer`.
final class TrafficReader {
    private var old: RecordProcessor
    private var new: RecordProcessor
    private var arena = OutputArena()
    private(set) var difference = TrafficDifference()
    /// The number of inputs that neither table accepts: not an event, not a link, or for another application.
    private(set) var unreadable = 0

    /// The size limit of a line, in bytes.
    static let limit = EventInput.limit

    /// Creates a comparison of two tables.
    init(old: RouteTable, new: RouteTable, _ vendors: LoadedVendors) {
        self.old = RecordProcessor(
            tables: TableSet([old]), vendors: vendors.table, platforms: vendors.platforms)
        self.new = RecordProcessor(
            tables: TableSet([new]), vendors: vendors.table, platforms: vendors.platforms)
    }

    /// Compares the decisions of a line: a link or an event, optionally with a tab and the number of its occurrences.
    func add(_ line: [UInt8]) {
        let (input, weight) = Self.parts(line)
        let a = Self.decisions(input, &old, &arena)
        let b = Self.decisions(input, &new, &arena)
        guard a.isDecided || b.isDecided else {
            unreadable += 1
            return
        }
        difference.add(old: a.values, new: b.values, weight: weight, witness: Self.witness(input))
    }

    /// Splits a line into input and weight.
    ///
    /// A link has no tab, and an event has none before digits at the end of its line.
    private static func parts(_ line: [UInt8]) -> (input: [UInt8], weight: Int) {
        guard let tab = line.lastIndex(of: UInt8(ascii: "\t")) else { return (line, 1) }
        let digits = String(decoding: line[(tab + 1)...], as: UTF8.self)
        guard let weight = Int(digits), (1...1_000_000_000).contains(weight) else { return (line, 1) }
        return (Array(line[..<tab]), weight)
    }

    private static func decisions(
        _ input: [UInt8], _ processor: inout RecordProcessor, _ arena: inout OutputArena
    ) -> (values: [JSONValue], isDecided: Bool) {
        arena.reset()
        var values: [JSONValue] = []
        let cause = input.withUnsafeBufferPointer { input in
            let key: ByteView? = input.first == UInt8(ascii: "{") ? nil : ByteView("device")
            return processor.process(value: ByteView(input), key: key, into: &arena) { _, decision, _ in
                if let value = try? JSONValue.parse(decision.array, maxDepth: 512) { values.append(value) }
            }
        }
        guard let cause else { return (values, true) }
        let reason = JSONMember(name: "reason", value: JSONValue(.string(cause.reason.rawValue)))
        return ([JSONValue(.object([reason]))], false)
    }

    /// Returns the link of the input, or the whole input.
    private static func witness(_ input: [UInt8]) -> String {
        let event = input.first == UInt8(ascii: "{") ? try? JSONValue.parse(input) : nil
        if event?["device"] == nil, let link = event?["link"]?.string { return link }
        return String(decoding: input, as: UTF8.self)
    }
}
