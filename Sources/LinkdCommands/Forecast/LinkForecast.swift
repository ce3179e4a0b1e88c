internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import StrictJSON

/// The destinations of a link on the devices of a census.
struct LinkForecast {
    /// The devices on which the link opens the same.
    struct Row {
        /// The destination.
        var destination: ForecastDestination
        /// The number of the destination.
        var number: Int
        /// The number of devices.
        var count = 0
        /// The numbers of their kinds in the census, if it has only one part.
        var kinds: [Int] = []
        /// The id of a device, or nil if none is known.
        var example: [UInt8]?
        /// The facts on which the decision about that device depends.
        var facts: DeviceFacts
        /// The decision about that device, or an empty list for a dead letter.
        var decision: [UInt8]
    }

    /// The link.
    let link: String
    /// The number of devices.
    private(set) var devices = 0
    private var found: [Row] = []
    /// The positions of rows in `found`, by the numbers of their destinations.
    private var positions: [Int?] = []

    /// Creates a forecast without devices.
    init(link: String) { self.link = link }

    /// The rows, by descending number of devices.
    var rows: [Row] { found.sorted { ($1.count, $0.destination.text) < ($0.count, $1.destination.text) } }

    /// Adds devices of a kind.
    ///
    /// - Parameters:
    ///   - number: The number of the kind in the census.
    ///   - destination: The number of the destination, and a function that returns it.
    ///   - decision: The decision about a device.
    mutating func add(
        _ number: Int, of census: DeviceCensus, _ destination: Int, _ named: (Int) -> ForecastDestination,
        _ decision: ByteView
    ) {
        let count = census.entries[number].count
        devices += count
        let position: Int
        while positions.count <= destination { positions.append(nil) }
        if let known = positions[destination] {
            position = known
        } else {
            position = found.count
            positions[destination] = position
            let entry = census.entries[number]
            found.append(
                Row(
                    destination: named(destination), number: destination, example: entry.example,
                    facts: census.kinds.facts(of: entry.kind), decision: decision.array))
        }
        found[position].count += count
        found[position].kinds.append(number)
    }

    /// Forgets the kinds of the rows, before devices of another part of the census are added.
    mutating func forgetKinds() { for index in found.indices { found[index].kinds = [] } }
}

/// The destination of a decision.
struct ForecastDestination: Hashable {
    /// The outcome, or `dead_letter`.
    var outcome: String
    /// The topmost screen with its coordinator, or nil.
    var screen: String?
    /// The URL, or nil.
    var url: String?
    /// The guard that defers the link, or nil.
    var rule: String?
    /// The reason, or nil.
    var reason: String?
    /// The detail of the reason, or nil.
    var detail: String?

    /// Creates the destination of a decision.
    init(_ decision: JSONValue) {
        outcome = decision["outcome"]?.string ?? "none"
        url = decision["url"]?.string
        rule = decision["guard"]?.string
        reason = decision["reason"]?.string
        detail = decision["detail"]?.string
        if let top = decision["stack"]?.array?.last {
            screen = [top["coordinator"]?.string, top["screen"]?.string].compactMap(\.self).joined(separator: ".")
        }
    }

    /// Creates the destination of a link that becomes a dead letter.
    init(_ cause: DeadLetterCause) {
        outcome = "dead_letter"
        reason = cause.reason.rawValue
    }

    /// A predicate for several devices, such as `open catalog.item`.
    var text: String {
        let because = reason.map { " (\($0)" + (detail.map { ": \($0)" } ?? "") + ")" } ?? ""
        let place = screen ?? "the root of the app"
        switch outcome {
        case "navigate": return "open \(place)" + because
        case "external": return "open a browser" + (url.map { " at \($0)" } ?? "") + because
        case "deferred": return "open \(place) until guard \(rule ?? "") lets the link pass" + because
        case "none": return "open nothing" + because
        case "dead_letter": return "become dead letters" + because
        default: return "reject the link" + because
        }
    }
}

/// A decider for kinds of devices.
final class KindDecider {
    /// The number of devices whose decisions are in memory at the same time.
    private static let maxDevices = 256
    /// The number of decisions whose destinations are remembered.
    private static let maxKnown = 4096
    /// The number of decisions with which others are compared first.
    private static let maxRecent = 32

    private var decider: Decider
    private var arena = OutputArena()
    /// The destinations so far.
    private(set) var destinations: [ForecastDestination] = []
    private var numbers: [ForecastDestination: Int] = [:]
    /// The numbers of the destinations of decisions, and the latest of these decisions in `kept`.
    private var known: [[UInt8]: Int] = [:]
    private var recent: [(decision: ByteView, number: Int)] = []
    private var kept = OutputArena()

    /// Creates a decider with the tables and rules of a configuration.
    init(_ configuration: DeciderConfiguration) {
        var configuration = configuration
        // The limits apply as to a record with one device, although many devices are decided here.
        configuration.limits.recordBytes = 64 << 20
        configuration.limits.decisionBytes = min(configuration.limits.decisionBytes, configuration.limits.outputBytes)
        configuration.limits.outputBytes = .max
        decider = Decider(configuration)
    }

    /// Decides about a link for devices, and calls `body` for each, in order.
    ///
    /// - Parameters:
    ///   - count: The number of devices.
    ///   - answers: The answers of all devices, one device after the other.
    ///   - facts: The facts of devices of kinds.
    ///   - body: A function that gets the number of the destination in `destinations`, and the decision, which can
    ///     be empty if an earlier device has the destination too.
    func decide(
        _ link: String, _ count: Int, _ answers: UnsafeBufferPointer<UInt16>, _ facts: KindFacts,
        _ body: (_ index: Int, _ destination: Int, _ decision: ByteView) -> Void
    ) {
        let event = Array((#"{"link":"# + JSONValue(.string(link)).text + #","device":{"id":"d"}}"#).utf8)
        let answered = AnsweredKinds(facts)
        var index = 0
        func kind() -> UnsafeBufferPointer<UInt16> {
            UnsafeBufferPointer(rebasing: answers[index * facts.width..<(index + 1) * facts.width])
        }
        while index < count {
            arena.reset()
            var decisions = 0
            event.withUnsafeBufferPointer { event in
                decider.decide(
                    value: ByteView(event),
                    next: {
                        while index < count && decisions < Self.maxDevices {
                            guard let known = answered.destination(of: kind()) else {
                                decisions += 1
                                return facts.view(of: kind())
                            }
                            body(index, known, .empty)
                            index += 1
                        }
                        return nil
                    }, into: &arena
                ) { decision, cause, asked in
                    let found = cause.map { number(of: ForecastDestination($0)) } ?? destination(of: decision)
                    answered.add(kind(), asked, found)
                    body(index, found, decision)
                    index += 1
                }
            }
        }
    }

    private func destination(of decision: ByteView) -> Int {
        if let index = recent.firstIndex(where: { $0.decision == decision }) { return recent[index].number }
        let bytes = decision.array
        let found =
            known[bytes]
            ?? number(of: ForecastDestination((try? JSONValue.parse(bytes, maxDepth: 512)) ?? JSONValue(.object([]))))
        if known.count >= Self.maxKnown { known.removeAll(keepingCapacity: true) }
        known[bytes] = found
        if recent.count >= Self.maxRecent {
            recent.removeAll(keepingCapacity: true)
            kept.reset()
        }
        kept.begin()
        kept.append(decision)
        recent.append((kept.finish(), found))
        return found
    }

    private func number(of destination: ForecastDestination) -> Int {
        if let number = numbers[destination] { return number }
        destinations.append(destination)
        numbers[destination] = destinations.count - 1
        return destinations.count - 1
    }
}

/// The forecasts of some links.
struct ForecastRun {
    /// The forecasts, in the order of the links.
    private(set) var forecasts: [LinkForecast]
    private let decider: KindDecider
    /// The limit of the numbers of kinds in the rows of all links, of 8 bytes each.
    private let maxKinds: Int
    /// The number of links whose kinds were forgotten because of the limit, so that they have no conditions.
    private(set) var linksWithoutKinds = 0

    /// Creates forecasts without devices.
    init(_ links: [String], _ configuration: DeciderConfiguration, maxKinds: Int = 16 << 20) {
        self.maxKinds = maxKinds
        forecasts = links.map { LinkForecast(link: $0) }
        decider = KindDecider(configuration)
    }

    /// Adds the devices of a census, or of a part of one.
    mutating func add(_ census: DeviceCensus) {
        let facts = KindFacts(census.kinds)
        for index in forecasts.indices { forecasts[index].forgetKinds() }
        linksWithoutKinds = 0
        for index in forecasts.indices {
            census.answers.withUnsafeBufferPointer { answers in
                decider.decide(
                    forecasts[index].link, census.entries.count, answers, facts
                ) { number, destination, decision in
                    forecasts[index].add(number, of: census, destination, { decider.destinations[$0] }, decision)
                }
            }
            if (index + 1) * census.entries.count > maxKinds {
                forecasts[index].forgetKinds()
                linksWithoutKinds += 1
            }
        }
    }

    /// Returns for each row what distinguishes its devices from all other devices, or nil if no short text does.
    func conditions(of rows: [LinkForecast.Row], in forecast: LinkForecast, _ census: DeviceCensus) -> [String?] {
        var known = [Int?](repeating: nil, count: census.entries.count)
        for row in forecast.rows { for kind in row.kinds { known[kind] = row.number } }
        let facts = KindFacts(census.kinds)
        let condition = ForecastCondition(forecast, census) { kinds in
            var found = kinds.map { kind in census.number(of: kind).flatMap { known[$0] } }
            let others = found.indices.filter { found[$0] == nil }
            others.flatMap { kinds[$0] }.withUnsafeBufferPointer { answers in
                decider.decide(forecast.link, others.count, answers, facts) { index, number, _ in
                    found[others[index]] = number
                }
            }
            return found
        }
        return rows.map(condition.text(of:))
    }
}
