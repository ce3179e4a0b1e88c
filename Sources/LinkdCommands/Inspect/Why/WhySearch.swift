internal import ByteStorage
internal import KafkaClient
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// A search for a decision and its event, with the explanation of the decision by its table.
struct WhySearch: Sendable {
    private let settings: Settings
    let tables: WhyTables
    private let vendors: LoadedVendors
    /// The topics from which events are read, or nil for any.
    ///
    /// The id of a decision names the topic of its event, and whoever can write decisions can write any id.
    var inputs: Set<String>?

    /// Creates a search with the tables and the vendors of the settings.
    init(_ settings: Settings, _ tables: WhyTables, _ vendors: LoadedVendors) {
        self.settings = settings
        self.tables = tables
        self.vendors = vendors
    }

    /// Finds a decision and explains it.
    ///
    /// A decision that does not exist ends with exit code 1.
    ///
    /// - Parameters:
    ///   - reference: The id of the decision, or its position.
    ///   - scan: The connection to the cluster.
    ///   - archive: The archive of configurations, or nil without one.
    ///   - outputs: The topics of decisions.
    ///   - progress: A function that is called with the topic and the number of its records read, and can end the
    ///     search.
    func report(
        _ reference: DecisionReference, _ scan: inout TopicScan, _ archive: inout ArchiveReader?, outputs: [String],
        progress: (_ topic: String, Int64) throws(CommandFailure) -> Void
    ) throws(CommandFailure) -> WhyReport {
        let id = try id(reference, &scan)
        let input = try event(id, &scan)
        let device = input.flatMap { self.device(of: id, in: $0) }
        var topics = outputs
        // The topic of a position comes first.
        if case .position(let place, _) = reference { topics = [place.topic] + outputs.filter { $0 != place.topic } }
        for range in DecisionSearch.Range.allCases {
            for topic in topics {
                let found = try DecisionSearch(id, in: topic)
                    .run(range, device: device, time: input?.timestamp, &scan) { read throws(CommandFailure) in
                        try progress(topic, read)
                    }
                if let found { return try report(id, found, input, &archive) }
            }
        }
        throw CommandFailure(
            .finding, "\(outputs.joined(separator: ", ")) has no decision \(id.text)",
            advice: "check the id and the topic, or look with `linkd inspect --topic \(id.topic) --dlq`")
    }

    /// Explains a decision whose record is known, without a search for other records with its id.
    func report(
        _ decision: InspectedRecord, _ scan: inout TopicScan, _ archive: inout ArchiveReader?
    ) throws(CommandFailure) -> WhyReport {
        guard let id = decision.json?["decision"]?.string.flatMap(DecisionID.init) else {
            throw Self.noDecision(decision.topic, decision.partition, decision.offset)
        }
        return try report(id, DecisionSearch.Found(record: decision), try event(id, &scan), &archive)
    }

    /// Returns the device of a decision by its event alone, or nil if the event does not say it.
    ///
    /// The device of an event with `user` depends on the registry.
    private func device(of id: DecisionID, in input: InspectedRecord) -> [UInt8]? {
        let configuration = DeciderConfiguration(settings, tables.files.map(\.table), vendors)
        let decision = resolve(input, configuration, only: id, devices: GivenDevices())
        guard let decision, (try? JSONValue.parse(decision.json))?["user"] == nil else { return nil }
        return resolve(input, configuration, only: id).flatMap { $0.device == decision.device ? $0.device : nil }
    }

    private static func noDecision(_ topic: String, _ partition: Int32, _ offset: Int64) -> CommandFailure {
        CommandFailure(
            .finding, "\(topic)-\(partition)-\(offset) is not the position of a decision",
            advice: "list the decisions with `linkd inspect --topic \(topic)`")
    }

    /// Returns the id of a decision, read from the record if its position is known.
    private func id(
        _ reference: DecisionReference, _ scan: inout TopicScan
    ) throws(CommandFailure) -> DecisionID {
        switch reference {
        case .id(let id): return id
        case .position(let place, let offset):
            guard let text = try record(at: offset, of: place, &scan)?.json?["decision"]?.string,
                let id = DecisionID(text)
            else {
                throw Self.noDecision(place.topic, place.partition, offset)
            }
            return id
        }
    }

    private func isInput(_ id: DecisionID) -> Bool { inputs?.contains(id.topic) ?? true }

    /// Returns the record of the event, or nil if it or its topic no longer exists.
    private func event(_ id: DecisionID, _ scan: inout TopicScan) throws(CommandFailure) -> InspectedRecord? {
        guard isInput(id) else { return nil }
        do throws(CommandFailure) {
            return try record(at: id.offset, of: TopicPartition(topic: id.topic, partition: id.partition), &scan)
        } catch  where error.code == .configuration {
            return nil
        }
    }

    /// Returns the record at an offset, or nil if it does not exist or no longer exists.
    func record(
        at offset: Int64, of partition: TopicPartition, _ scan: inout TopicScan
    ) throws(CommandFailure) -> InspectedRecord? {
        guard let ends = try scan.description(of: partition.topic)[partition.partition], offset >= ends.low,
            offset < ends.high
        else { return nil }
        var plan = ScanPlan()
        plan.partitions[partition] = ScanPlan.Span(from: offset, to: offset + 1)
        try scan.start(plan)
        var result: InspectedRecord?
        while !scan.isDone {
            _ = try scan.next { record in
                result = record.copy()
                return true
            }
        }
        return result
    }

    /// Explains a decision by the record of its event, or nil if that no longer exists.
    ///
    /// The configurations of the archive come first, then the tables at hand.
    func report(
        _ id: DecisionID, _ found: DecisionSearch.Found, _ input: InspectedRecord?, _ archive: inout ArchiveReader?
    ) throws(CommandFailure) -> WhyReport {
        let identity = found.record.json?["table"]?.string
        var report = WhyReport(
            decision: found.record, count: found.count, input: input, identity: identity, table: nil,
            atHand: tables.files.map(\.table.identity))
        report.foreignTopic = isInput(id) ? nil : id.topic
        if try archive?.update() != nil, try explain(id, &report, &archive) { return report }
        let table = identity.flatMap(tables.table)
        report.table = table
        // A decision without a table depends on all tables.
        let used = table.map { [$0.table] } ?? tables.files.map(\.table)
        explain(id, &report, DeciderConfiguration(settings, used, vendors), used)
        return report
    }

    /// The limit of configurations that are tried for one decision.
    private static let maxTries = 20

    /// Explains a decision by a configuration of the archive, or returns false if it has none for the decision.
    ///
    /// The first one that gives the bytes of the decision is taken, or the most probable one if none does.
    private func explain(
        _ id: DecisionID, _ report: inout WhyReport, _ archive: inout ArchiveReader?
    ) throws(CommandFailure) -> Bool {
        guard var reader = archive else { return false }
        defer { archive = reader }
        let time = report.decision.timestamp < 0 ? Int64.max : report.decision.timestamp
        var first: WhyReport?
        var problem: String?
        for entry in reader.archive.candidates(for: report.identity, at: time).prefix(Self.maxTries) {
            let loaded: LoadedConfiguration
            do throws(CommandFailure) {
                loaded = try reader.load(entry)
            } catch {
                guard error.code == .badData else { throw error }
                problem = problem ?? error.reason
                continue
            }
            var tried = report
            tried.archived = entry
            let table = report.identity.flatMap(loaded.table)
            tried.table = table.map { WhyTables.Entry(table: $0, source: "topic", path: reader.archive.topic) }
            explain(id, &tried, loaded.decider, table.map { [$0] } ?? loaded.decider.tables.tables)
            if tried.isSame != false {
                first = tried
                break
            }
            first = first ?? tried
        }
        report = first ?? report
        report.archiveProblem = problem
        return first != nil
    }

    /// Decides again with a configuration, and explains the decision with some of its tables.
    private func explain(
        _ id: DecisionID, _ report: inout WhyReport, _ configuration: DeciderConfiguration, _ used: [RouteTable]
    ) {
        guard let input = report.input else { return }
        // The decision has the destinations of short links, whatever a file says now.
        var configuration = configuration
        configuration.shortLinks = .decided(report.decision.json?["notes"])
        let devices = devices(of: report.decision.json, id, input, configuration)
        report.again = resolve(input, configuration, only: id, devices: devices)?.json
        if let again = report.again { report.older = older(id, input, configuration, again, devices) }
        var explained = configuration
        explained.tables = TableSet(used)
        explained.candidate = nil
        let explainer = Explainer(explained, devices: devices)
        report.explanation =
            input.withViews { record in
                record.item(id.place.item).map {
                    explainer.explain(value: $0.value ?? .empty, key: $0.key, headers: $0.headers, only: id.place.index)
                }
            }?.first
    }

    /// Returns what the registry said when a decision was made, or nil if it was made without a registry.
    ///
    /// A decision with the members `facts` or `user` was made with one. Any other decision had no facts from it: it was
    /// made without one if the event without a registry is for the decision's device. Otherwise, the event has `user`.
    func devices(
        of decision: JSONValue?, _ id: DecisionID, _ input: InspectedRecord, _ configuration: DeciderConfiguration
    ) -> (any KnownDevices)? {
        let device = decision?["device"]?.string.map { Array($0.utf8) }
        if decision?["facts"] == nil, decision?["user"] == nil,
            let plain = resolve(input, configuration, only: id), plain.device == device
        {
            return nil
        }
        return DecidedDevice(device, decision?["facts"].map { Array($0.text.utf8) }, index: id.place.index)
    }

    /// Returns the decisions of versions that copied no query items and nothing for delivery, of those that also
    /// published no `application`, and of those that also passed no campaign through by default.
    private func older(
        _ id: DecisionID, _ input: InspectedRecord, _ configuration: DeciderConfiguration, _ now: [UInt8],
        _ devices: (any KnownDevices)?
    ) -> [(json: [UInt8], missing: String)] {
        var older: [(json: [UInt8], missing: String)] = []
        var bareConfiguration = configuration
        bareConfiguration.contextQuery = []
        let withoutQuery = resolve(input, bareConfiguration, only: id, devices: devices)?.json ?? now
        if withoutQuery != now { older.append((withoutQuery, "`query` in `context`")) }
        let later = "`expires`, `query`, or values for delivery in `context`"
        let plain = Self.withoutDelivery(withoutQuery)
        if plain != withoutQuery { older.append((plain, later)) }
        let rest = plain == now ? "" : ", and no " + later
        let bare = Self.withoutApplication(plain)
        if bare != plain { older.append((bare, "`application`" + rest)) }
        guard configuration.passthrough == .campaign else { return older }
        bareConfiguration.passthrough = []
        guard let other = resolve(input, bareConfiguration, only: id, devices: devices) else { return older }
        let json = Self.withoutDelivery(other.json)
        older.append((json, "`campaign` in `context`" + rest))
        older.append((Self.withoutApplication(json), "`application`, and no `campaign` in `context`" + rest))
        return older
    }

    /// Returns a decision without `expires`, the collapse id, and the priority in `context`.
    private static func withoutDelivery(_ json: [UInt8]) -> [UInt8] {
        guard let value = try? JSONValue.parse(json), value["context"] != nil else { return json }
        func filled(_ object: JSONValue) -> JSONValue? { object.object?.isEmpty == false ? object : nil }
        let plain = value.mapMembers { member in
            guard member.name == "context" else { return member.value }
            return filled(
                member.value.mapMembers { part in
                    switch part.name {
                    case "expires": nil
                    case "push":
                        filled(part.value.mapMembers { ["collapse", "priority"].contains($0.name) ? nil : $0.value })
                    default: part.value
                    }
                })
        }
        return Array(plain.text.utf8)
    }

    /// Returns a decision without the member `application`.
    private static func withoutApplication(_ json: [UInt8]) -> [UInt8] {
        // Quotation marks in the texts before it are escaped, so the first occurrence is the member.
        guard let name = json.firstRange(of: Array(#","application":""#.utf8)) else { return json }
        var end = name.upperBound
        while end < json.count, json[end] != UInt8(ascii: "\"") { end += json[end] == UInt8(ascii: "\\") ? 2 : 1 }
        return end < json.count ? Array(json[..<name.lowerBound] + json[(end + 1)...]) : json
    }

    /// Returns one of the decisions that resolving an event yields, or nil if there is none with the id.
    private func resolve(
        _ input: InspectedRecord, _ configuration: DeciderConfiguration, only id: DecisionID,
        devices: (any KnownDevices)? = nil
    ) -> (device: [UInt8], json: [UInt8])? {
        for decision in Self.resolve(input, configuration, only: id.place, devices: devices) {
            if let json = id.published(decision.json) { return (decision.device, json) }
        }
        return nil
    }

    /// Resolves an event as a worker with a configuration does.
    ///
    /// Returns an empty array if the event becomes a dead letter. The items of a record that become dead letters are
    /// left out.
    ///
    /// - Parameters:
    ///   - input: The record of the event.
    ///   - configuration: The configuration of the worker's deciders.
    ///   - place: The place of the only decision, or nil for all.
    ///   - devices: What the registry knows, or nil for no registry.
    static func resolve(
        _ input: InspectedRecord, _ configuration: DeciderConfiguration, only place: DecisionPlace? = nil,
        devices: (any KnownDevices)? = nil
    ) -> [(device: [UInt8], json: [UInt8])] {
        guard !configuration.tables.tables.isEmpty else { return [] }
        var decider = Decider(configuration, devices: devices)
        return input.withViews { record in
            var arena = OutputArena(chunkBytes: 1 << 16)
            var decisions: [ProducedDecision] = []
            _ = decider.decide(record, only: place, into: &arena, decisions: &decisions)
            return decisions.map { ($0.key.array, $0.value.array) }
        }
    }
}

extension Decider {
    /// Decides about a scanned record, for the place of one decision or for all.
    mutating func decide(
        _ record: ScannedRecord, only place: DecisionPlace?, into arena: inout OutputArena,
        decisions: inout [ProducedDecision]
    ) -> DeadLetterCause? {
        arena.begin()
        arena.append(text: record.topic)
        let topic = arena.finish()
        let consumed = ConsumedRecord(
            topic: 0, partition: record.partition, offset: record.offset, timestamp: record.timestamp,
            key: record.key, value: record.value, index: 0, hasHeaders: !record.headers.isEmpty)
        (onlyItem, onlyDevice) = (place?.item, place?.index)
        return decide(consumed, headers: record.headers, topicName: topic, into: &arena, decisions: &decisions)
    }
}

/// The tables at hand in addition to the tables in an archive's topic.
///
/// They are the tables in the archive of a worker's state directory, and the tables of the settings or else the shipped
/// ones.
struct WhyTables: Sendable {
    /// A table with its source.
    struct Entry: Sendable {
        var table: RouteTable
        /// The kind of the source: `topic`, `archive`, `file`, or `shipped`.
        var source: String
        /// The path of the file, or the name of the topic.
        var path: String
    }

    /// The tables of the settings, or the shipped ones if the settings name none.
    let files: [Entry]
    private let stateDirectory: String?

    /// Loads the tables of the settings.
    init(_ settings: Settings, _ shipped: ShippedFiles) throws(CommandFailure) {
        stateDirectory = settings.text("state.dir")
        var paths = settings.list("tables")
        var source = "file"
        if settings.text("table.directory") != nil { paths = try TableFiles(settings).paths() }
        if paths.isEmpty {
            source = "shipped"
            paths = (try? shipped.tables()) ?? []
        }
        var entries: [Entry] = []
        for path in paths {
            entries.append(Entry(table: try CheckedTable.validTable(at: path), source: source, path: path))
        }
        files = entries
    }

    /// Returns the table with an identity, such as `shop@1+d1ec0520`, or nil if it is not at hand.
    func table(identity: String) -> Entry? {
        if let directory = stateDirectory, let plus = identity.lastIndex(of: "+") {
            let prefix = String(identity[identity.index(after: plus)...])
            for archived in TableArchive.tables(hashPrefix: prefix, in: directory) {
                guard let table = RouteTable.check(archived.json).table, table.identity == identity else { continue }
                return Entry(table: table, source: "archive", path: archived.path)
            }
        }
        return files.first { $0.table.identity == identity }
    }
}

/// A run of `linkd inspect --why`: finds a decision and its event, and resolves the event again.
final class WhyJob {
    private let call: Invocation
    private let settings: Settings
    private let search: WhySearch

    /// Loads the tables and the vendors of the settings.
    init(_ call: Invocation, _ settings: Settings) throws(CommandFailure) {
        let shipped = ShippedFiles(environment: call.environment)
        self.call = call
        self.settings = settings
        search = WhySearch(
            settings, try WhyTables(settings, shipped),
            try LoadedVendors(settings, shipped, opensShortLinks: false, on: call.console))
    }

    /// Finds a decision and prints why it was made.
    ///
    /// - Parameter outputs: The topics of decisions.
    func run(
        _ reference: DecisionReference, _ connection: Connection, outputs: [String]
    ) throws(CommandFailure) -> ExitCode {
        var scan = try TopicScan(connection)
        var archive = try ArchiveReader(settings, connection)
        var progress = ProgressLine(call.console)
        defer { progress.clear() }
        let report = try search.report(reference, &scan, &archive, outputs: outputs) { topic, read in
            progress.show("searching \(topic): \(Counts.grouped(read)) records")
        }
        progress.clear()
        if call.json { report.printJSON(on: call.console.out) } else { report.print(on: call.console) }
        return .success
    }
}
