internal import ByteStorage
internal import LinkCoordinator
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// The file of a census: how many devices of each kind there are, without their ids.
struct CensusFile {
    /// The version of the format.
    private static let version: Int64 = 1
    /// The size limit of a file, in bytes.
    private static let limitBytes = 64 << 20
    /// The limit of the devices of one kind.
    private static let maxCount: Int64 = 1 << 40

    /// The topic of the registry.
    var topic: String
    /// The time at which the registry was read, as text.
    var time: String
    /// The census.
    var census: DeviceCensus

    /// Creates the file of a census that was read now.
    init(topic: String, _ census: DeviceCensus) {
        self.topic = topic
        self.census = census
        time = OutputArena.text { Timestamps.append(Platform.nowMilliseconds, to: &$0) }
    }

    /// Writes the file.
    ///
    /// - Parameter least: The number of devices below which kinds are merged.
    func write(to path: String, least: Int) throws(CommandFailure) {
        guard let error = Platform.writeFile(path, Array((json(least: least) + "\n").utf8)) else { return }
        throw CommandFailure(
            .configuration, "census \(Escaping.visible(path)) cannot be written: \(error.text)",
            advice: "specify a file that this user can write")
    }

    private func json(least: Int) -> String {
        let kept = census.entries.filter { $0.count >= least }
        let merged = census.merged + census.devices - kept.reduce(0) { $0 + $1.count }
        return JSONText.object { json in
            json.number("census", Self.version)
            json.text("topic", topic)
            json.text("time", time)
            json.beginObject("facts")
            for question in census.kinds.questions { json.texts(question.name, question.named) }
            json.endObject()
            json.number("merged", Int64(merged))
            json.objects("kinds", of: kept) { json, entry in
                json.number("devices", Int64(entry.count))
                json.raw("device", Array(census.kinds.facts(of: entry.kind).json.utf8))
            }
        }
    }

    /// Reads a file for tables.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - kinds: The kinds that the tables distinguish.
    /// - Throws: Exit code 78 if the file cannot be read, and 65 if it is no census, or if it does not distinguish all
    ///   devices that the tables distinguish.
    init(path: String, for kinds: DeviceKinds) throws(CommandFailure) {
        let bytes = try Platform.required(path, limit: Self.limitBytes, as: "census \(Escaping.visible(path))")
        guard let value = try? JSONValue.parse(bytes), value["census"]?.integer == Self.version,
            let facts = value["facts"]?.object, let entries = value["kinds"]?.array,
            let known = DeviceKinds(facts.map { ($0.name, ($0.value.array ?? []).compactMap(\.string)) })
        else { throw Self.invalid(path) }
        if let missing = known.lacks(kinds) {
            throw CommandFailure(
                .badData,
                "census \(Escaping.visible(path)) was made for other facts: it does not ask about "
                    + Escaping.visible(missing),
                advice: "make it again with `linkd forecast --save-census` and all of these tables")
        }
        topic = value["topic"]?.string ?? ""
        time = value["time"]?.string ?? ""
        census = DeviceCensus(kinds)
        for entry in entries {
            let device = DeviceFacts(entry["device"] ?? JSONValue(.object([])))
            guard let count = entry["devices"]?.integer, (1...Self.maxCount).contains(count),
                device.unreadable.isEmpty, entries.count <= DeviceCensus.maxKinds,
                device.withFacts({ census.add($0, count: Int(count)) })
            else { throw Self.invalid(path) }
        }
        guard let merged = value["merged"]?.integer, (0...Self.maxCount).contains(merged) else {
            throw Self.invalid(path)
        }
        census.merged = Int(merged)
    }

    private static func invalid(_ path: String) -> CommandFailure {
        CommandFailure(
            .badData, "\(Escaping.visible(path)) is not the file of a census",
            advice: "specify a file that `linkd forecast --save-census` has written")
    }
}
