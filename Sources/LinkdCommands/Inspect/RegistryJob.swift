internal import ByteStorage
internal import KafkaClient
internal import LinkIngest
internal import RouteTools
internal import StrictJSON

/// A run of `linkd inspect --devices` or `--user`: what the registry's topic says now.
///
/// All partitions are read, although `linkd produce --devices` writes a device to one that its id determines. Records
/// of other producers, or from before partitions were added, can be in any partition, and workers take them all.
struct RegistryJob {
    private let call: Invocation
    private let subject: DeviceSearch.Subject
    private let topic: String
    private let members: DeviceMembers

    /// A Boolean value that indicates whether the call is about a user.
    var isOfUser: Bool {
        if case .user = subject { true } else { false }
    }

    /// Creates a run, or returns nil if the call is not about the registry.
    init?(_ call: Invocation, _ settings: Settings) throws(CommandFailure) {
        switch (call.text("devices"), call.text("user")) {
        case (nil, nil): return nil
        case (let id?, _): subject = .device(Array(id.utf8))
        case (nil, let user?): subject = .user(Array(user.utf8))
        }
        self.call = call
        topic = try settings.requireDevicesTopic()
        members = try settings.deviceMembers
    }

    /// Reads the topic and prints the answer.
    func run(_ connection: Connection) throws(CommandFailure) {
        _ = try connection.makeAdmin()
        var scan = try TopicScan(connection)
        let ends = try scan.description(of: topic)
        var plan = ScanPlan()
        let range = ScanRange(partition: call.number("partition").map { Int32($0) })
        try plan.add(topic, ends, range)
        try scan.start(plan)
        var search = DeviceSearch(subject, members)
        var progress = ProgressLine(call.console)
        let total = plan.recordCount
        try scan.forEach { read in
            progress.show("read \(Counts.grouped(read)) of at most \(Counts.grouped(total))")
        } _: { record throws(CommandFailure) in
            try search.add(record)
        }
        progress.clear()
        let found = search.found
        for (id, entry) in found {
            if call.json { printJSON(id, entry) } else { print(id, entry) }
            warn(id, entry, partitions: Int32(ends.count))
        }
        note(found.count, former: search.formerCount)
        call.console.out.flush()
    }

    private func note(_ count: Int, former: Int) {
        guard case .user(let user) = subject else { return }
        let name = Escaping.visible(String(decoding: user, as: UTF8.self))
        let devices = count == 0 ? "no device" : Counts.text(count, "device")
        let rest = former > 0 ? "; \(Counts.text(former, "other device")) belonged to it before" : ""
        call.console.note("\(topic) has \(devices) of the user \(name)\(rest)")
    }

    /// Warns of records whose order is not certain, because they are in several partitions.
    private func warn(_ id: [UInt8], _ entry: RegistryEntry, partitions: Int32) {
        let name = Escaping.visible(String(decoding: id, as: UTF8.self))
        let own = id.withUnsafeBufferPointer { Murmur2.partition(of: ByteView($0), among: partitions) }
        guard entry.partitions.contains(where: { $0 != own }) else { return }
        let numbers = entry.partitions.sorted().map(String.init).joined(separator: ", ")
        call.console.warn(
            "The records of \(name) are in partition \(numbers) of \(topic), and `linkd produce --devices` writes it "
                + "to \(own). Records in different partitions have no order, here and in workers. Delete the device in "
                + "each other one, with `linkd produce --devices --partition N`.")
    }

    // MARK: Output

    private func print(_ id: [UInt8], _ entry: RegistryEntry) {
        let out = call.console.out
        let name = out.style.name(Escaping.visible(String(decoding: id, as: UTF8.self)))
        switch entry.state {
        case .unknown:
            // Compaction removes deletions, and a good record before a malformed one.
            let records =
                entry.malformed == 0
                ? "has no record of it; a deletion is forgotten after delete.retention.ms"
                : "has only malformed records of it; workers keep what they read before"
            out.line("\(name)  unknown: \(topic) \(records)")
        case .deleted(let place): out.line("\(name)  \(out.style.paint("deleted", .warning)) since \(text(place))")
        case .known(let place, let user, let value):
            let owner = user.isEmpty ? "" : " of the user \(Escaping.visible(String(decoding: user, as: UTF8.self)))"
            out.line("\(name)  \(out.style.paint("known", .good)) since \(text(place))\(owner)")
            out.line("    \(Escaping.visible(String(decoding: value, as: UTF8.self)))")
        }
        guard let last = entry.lastMalformed else { return }
        let records = Counts.text(entry.malformed, "malformed record")
        out.line(
            "    \(records) after it \(entry.malformed == 1 ? "changes" : "change") nothing, the last \(text(last))")
    }

    /// Returns the time and the position of a record.
    private func text(_ place: RegistryEntry.Place) -> String {
        OutputArena.text { line in
            if place.timestamp < 0 {
                line.append("no time")
            } else {
                Timestamps.append(place.timestamp, local: call.isOn("local"), to: &line)
            }
            line.append("  ")
            line.append(text: "\(topic)-\(place.partition)-\(place.offset)")
        }
    }

    private func printJSON(_ id: [UInt8], _ entry: RegistryEntry) {
        call.console.out.json { json in
            json.text("id", String(decoding: id, as: UTF8.self))
            switch entry.state {
            case .unknown: json.text("state", "unknown")
            case .deleted(let place):
                json.text("state", "deleted")
                write(place, to: &json)
            case .known(let place, let user, let value):
                json.text("state", "known")
                if !user.isEmpty { json.text("user", String(decoding: user, as: UTF8.self)) }
                write(place, to: &json)
                if let value = try? JSONValue.parse(value) { json.value("value", value) }
            }
            guard let last = entry.lastMalformed else { return }
            json.beginObject("malformed")
            json.number("count", Int64(entry.malformed))
            write(last, to: &json)
            json.endObject()
        }
    }

    private func write(_ place: RegistryEntry.Place, to json: inout JSONText) {
        json.text("topic", topic)
        json.number("partition", Int64(place.partition))
        json.number("offset", place.offset)
        json.number("timestamp", place.timestamp < 0 ? nil : place.timestamp)
    }
}
