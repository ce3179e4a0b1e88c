internal import ByteStorage
internal import DispatchWorker
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import ShortLinks
internal import StrictJSON

/// A decision that the new table makes differently.
struct Correction {
    /// The id of the wrong decision.
    var superseded: DecisionID
    /// The id of the correction.
    var id: DecisionID
    /// The wrong decision.
    var old: [UInt8]
    /// The correction with its id.
    var new: [UInt8]
    /// The configuration that made the wrong decision.
    var configuration: RecallConfiguration
    /// The short links of the wrong decision.
    var shortLinks: ShortLinkFile?
}

/// The answer for one chosen decision.
enum RecallVerdict {
    case left(RecallPlan.State)
    case correct(Correction)
}

/// Decides chosen decisions again: with the configuration that gives their bytes, and with the new table.
///
/// The answer depends only on the decision, the record, the facts in the decision, the configurations, and the time.
struct RecallJudge {
    private var configurations: RecallConfigurations
    /// The time with which the expiry of events is compared, in milliseconds since 1970.
    var now: Int64
    /// `max.message.bytes` of the topics of the corrections: of each topic of decisions, or of another one.
    private let messageLimits: [Int]
    /// The member of a decision with the name of the new table.
    private let replacement: [UInt8]

    /// Creates a judge.
    init(_ configurations: RecallConfigurations, _ replacement: RouteTable, now: Int64, messageLimits: [Int] = [.max]) {
        self.configurations = configurations
        self.messageLimits = messageLimits
        self.replacement = replacement.decisionMember
        self.now = now
    }

    /// Returns the answer for a decision whose event's record was read.
    ///
    /// - Parameters:
    ///   - choice: The decision.
    ///   - id: Its id.
    ///   - device: Its device and facts.
    ///   - record: The event's record.
    ///   - shortLinks: Its short links, or nil if it has none.
    mutating func verdict(
        _ choice: RecallPlan.Choice, _ id: DecisionID, _ device: (id: [UInt8]?, facts: [UInt8]?),
        _ record: ScannedRecord, _ shortLinks: ShortLinkFile? = nil
    ) -> RecallVerdict {
        for configuration in configurations.all { configuration.shortLinks = shortLinks }
        guard let found = reproduce(choice, id, device, record) else {
            if configurations.all.isEmpty { return .left(.unarchived) }
            return .left(configurations.hadOtherVersion(at: choice.time) ? .version : .different)
        }
        let next = id.next
        switch found.configuration.decide(record, next ?? id, device, isNew: true) {
        case .none: return .left(.refused)
        case .decision(let new):
            if isSame(found.bytes, new, found.configuration.member) { return .left(.same) }
            if found.configuration.hasExpired(at: now) { return .left(.expired) }
            guard let next else { return .left(.exhausted) }
            let limit = messageLimits[messageLimits.count > 1 ? Int(choice.output) : 0]
            if DeadLetterOutput.frameBytes + Int(choice.keyCount) + new.count > limit { return .left(.large) }
            return .correct(
                Correction(
                    superseded: id, id: next, old: found.bytes, new: new, configuration: found.configuration,
                    shortLinks: shortLinks))
        }
    }

    private mutating func reproduce(
        _ choice: RecallPlan.Choice, _ id: DecisionID, _ device: (id: [UInt8]?, facts: [UInt8]?),
        _ record: ScannedRecord
    ) -> (configuration: RecallConfiguration, bytes: [UInt8])? {
        for configuration in configurations.order(at: choice.time) {
            guard case .decision(let bytes) = configuration.decide(record, id, device, isNew: false) else { continue }
            let digest = bytes.withUnsafeBufferPointer { RecallDigest(ByteView($0)) }
            if digest == choice.digest { return (configuration, bytes) }
        }
        return nil
    }

    /// Returns a Boolean value that indicates whether two decisions are equal without their ids and tables.
    private func isSame(_ old: [UInt8], _ new: [UInt8], _ member: [UInt8]) -> Bool {
        old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in
                Self.isSame(
                    DecisionID.withoutHead(ByteView(old)), DecisionID.withoutHead(ByteView(new)), member, replacement)
            }
        }
    }

    /// Returns a Boolean value that indicates whether two texts are equal without two parts at the same place.
    static func isSame(_ a: ByteView, _ b: ByteView, _ partA: [UInt8], _ partB: [UInt8]) -> Bool {
        var common = 0
        while common < min(a.count, b.count), a[common] == b[common] { common += 1 }
        if common == a.count, common == b.count { return true }
        // The parts begin with `,"table":"`. Quotation marks in texts are escaped, so no text contains that.
        let start = common - zip(partA, partB).prefix { $0 == $1 }.count
        guard start >= 0 else { return false }
        return partA.withUnsafeBufferPointer { partA in
            partB.withUnsafeBufferPointer { partB in
                let (restA, restB) = (a.dropFirst(start), b.dropFirst(start))
                return restA.hasPrefix(ByteView(partA)) && restB.hasPrefix(ByteView(partB))
                    && restA.dropFirst(partA.count) == restB.dropFirst(partB.count)
            }
        }
    }
}

extension RouteTable {
    /// The member of a decision with the name of the table.
    var decisionMember: [UInt8] {
        [UInt8(ascii: ",")] + JSONText.object { $0.text("table", identity) }.utf8.dropFirst().dropLast()
    }
}

/// The edits that cause corrections, with the corrections counted by them.
struct RecallCauses {
    /// The corrections that the same edits cause.
    struct Group {
        var causes: [TableDifference.Cause]
        var count = 0
    }

    private let replacement: RouteTable
    private var searches: [String: ChangeCauses] = [:]
    private var readers: [ObjectIdentifier: ReaderBox] = [:]
    private var found: [[String]: Group] = [:]

    /// Creates an empty list of the edits that lead to a table.
    init(to replacement: RouteTable) { self.replacement = replacement }

    /// The groups, the largest first.
    var groups: [Group] {
        found.sorted { ($1.value.count, $0.key.joined()) < ($0.value.count, $1.key.joined()) }.map(\.value)
    }

    /// Counts a correction, and returns the places of the edits that cause it.
    mutating func add(
        _ correction: Correction, _ record: ScannedRecord, _ device: (id: [UInt8]?, facts: [UInt8]?)
    ) -> [String] {
        let configuration = correction.configuration
        let table = configuration.table
        let reader = readers[ObjectIdentifier(configuration)] ?? ReaderBox(configuration)
        readers[ObjectIdentifier(configuration)] = reader
        var causes: [TableDifference.Cause] = []
        if let request = reader.copy(record, correction.superseded.place, device, correction.shortLinks) {
            var search = searches.removeValue(forKey: table.hash) ?? ChangeCauses(from: table, to: replacement)
            causes = search.edits(of: request.request, request.facts)
            // A table by itself does not find the link in the payload of a vendor.
            if causes.isEmpty, let found = request.found { causes = search.edits(of: found, request.facts) }
            searches[table.hash] = search
        }
        let key = causes.map(\.location)
        found[key, default: Group(causes: causes)].count += 1
        return key
    }
}

/// A reader of events with a configuration.
private final class ReaderBox {
    private var reader: EventReader
    private let device = DecidedDevice()

    init(_ configuration: RecallConfiguration) {
        reader = EventReader(
            configuration.corrected, devices: configuration.members == nil ? nil : device)
    }

    func copy(
        _ record: ScannedRecord, _ place: DecisionPlace, _ device: (id: [UInt8]?, facts: [UInt8]?),
        _ shortLinks: ShortLinkFile?
    ) -> (request: LinkRequest, found: LinkRequest?, facts: DeviceFacts)? {
        reader.use(shortLinks ?? .empty)
        self.device.set(device.id, device.facts, index: place.index)
        guard let record = record.item(place.item), let value = record.value,
            reader.readInPlace(value: value, key: record.key, headers: record.headers)
        else { return nil }
        return reader.copy(at: place.index)
    }
}
