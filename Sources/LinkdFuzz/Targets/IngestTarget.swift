internal import ByteStorage
internal import LinkDecider
internal import LinkIngest
internal import StrictJSON

/// The target `ingest`. An input is a record with its key and its headers, in the format of `IngestInput`.
///
/// It is read with the shipped vendors and link platforms.
extension FuzzRunner {
    func runIngest(_ input: [UInt8]) -> String? {
        guard !ingestEnvironments.isEmpty else { return "the environments of `ingest` cannot be loaded" }
        let (letter, record) = IngestInput.record(input)
        let environment = FuzzEnvironment.named(letter, of: ingestEnvironments)
        var lane = RecordLane(environment)
        let result = lane.results(CollectionOfOne(record))[0]
        if let wrong = wrong(result, of: record, environment) { return wrong }
        let again = lane.results(CollectionOfOne(record))[0]
        if again != result { return "the second run has a different result\nfirst:\n\(result)\nthen:\n\(again)" }
        let after = afterOthers(record, environment)
        if after != result { return "a different result after others\nalone:\n\(result)\nafter others:\n\(after)" }
        if let wrong = itemViolation(result, of: record, environment) { return wrong }
        let reader = IngestReader(environment)
        let explained = reader.digest(record)
        if explained != reader.digest(record) { return "the second explanation is different" }
        return ingestCostViolation(record, environment) ?? resumeViolation(result, environment)
    }

    /// Returns the result of a record after a push message, an event of CloudEvents, and a link for several devices.
    private func afterOthers(_ record: FuzzRecord, _ environment: FuzzEnvironment) -> RecordResult {
        var lane = RecordLane(environment)
        return lane.results(Self.others + [record])[Self.others.count]
    }

    private static let others = [
        #"{"device":{"id":"d","platform":"android"},"action":"0","payload":{"message":{"data":{"_ab":"true","#
            + #""uri":"shop:\/\/\/p\/new","ab_a0_a":"ab_uri","ab_a0_uri":"shop:///","#
            + #""com.batch":"{\"l\":\"shop:///\"}"}}}}"#,
        #"{"specversion":"1.0","id":"i","source":"s","type":"t","data_base64":"eyJsaW5rIjoic2hvcDovLy8ifQ=="}"#,
        #"{"link":"https://shop.example/p/new","devices":[{"id":"a","platform":"ios"},{"id":"b","platform":"web"}]}"#,
        #"[{"to":"ExponentPushToken[a]","data":{"url":"shop:///"}},{"to":["ExponentPushToken[b]",5]},[]]"#,
    ].map { FuzzRecord(key: Array("k".utf8), value: Array($0.utf8)) }

    /// The limit of items of a list whose influence on each other is checked.
    private static let maxItems = 8

    /// Returns a description if the items of a list affect each other, or nil.
    ///
    /// Without an item, the others have the same results. An item without headers has the decisions of a record of its
    /// own.
    private func itemViolation(
        _ result: RecordResult, of record: FuzzRecord, _ environment: FuzzEnvironment
    ) -> String? {
        let items = record.value.withUnsafeBufferPointer { RecordBatch(ByteView($0)) }?.items ?? []
        guard items.count <= Self.maxItems, result.cause?.item != nil || result.cause == nil else { return nil }
        if result.decisions.count > environment.configuration.limits.devices { return "a list for too many devices" }
        for (item, range) in items.enumerated() {
            var other = record
            other.value.replaceSubrange(range, with: Array("null".utf8))
            let without = RecordLane.fresh(other, environment)
            // The list is refused without its only message, and over a limit.
            if without.cause?.item != nil || without.cause == nil, without.others(item) != result.others(item) {
                return "item \(item) changes others\nwith it:\n\(result)\nwithout it:\n\(without)"
            }
            if !record.headers.isEmpty || record.value[range.lowerBound] == UInt8(ascii: "[") { continue }
            let alone = RecordLane.fresh(
                FuzzRecord(key: record.key, value: Array(record.value[range]), offset: record.offset), environment)
            if alone.texts(of: item, isAlone: true) != result.texts(of: item) {
                return "item \(item) has other decisions alone\nin the list:\n\(result)\nalone:\n\(alone)"
            }
        }
        return nil
    }

    /// Returns a description if the least time of at least five runs exceeds the cost bound, or nil.
    ///
    /// The runs take 200 ms together, because a virtual machine can be slow for many milliseconds. A processor that
    /// shares its core can be slow for minutes, so the bound grows with the time that a fixed work takes between runs.
    func ingestCostViolation(_ record: FuzzRecord, _ environment: FuzzEnvironment) -> String? {
        var lane = RecordLane(environment)
        var least = UInt64.max
        var bytes = 0
        var devices = 1
        var runs = 0
        var total: UInt64 = 0
        var speed = SpeedReference()
        while runs < 5 || total < 200_000_000 {
            lane.run(CollectionOfOne(record)) { _, cause, decisions in
                bytes = record.value.count + decisions.reduce(0) { $0 + $1.value.count }
                if cause?.reason == .oversizeOutput { bytes += Limits().outputBytes }
                devices = decisions.count
            }
            runs += 1
            total += lane.nanoseconds
            least = min(least, lane.nanoseconds)
            speed.measure()
            if !cost.isOver(least, bytes: bytes, devices: max(devices, 1)) { return nil }
        }
        if devices == 0, let event = try? JSONValue.parse(record.value) {
            devices = min(event["devices"]?.array?.count ?? 0, environment.configuration.limits.devices)
        }
        let scaled = UInt64(Double(least) / speed.slowness)
        guard cost.isOver(scaled, bytes: bytes, devices: max(devices, 1)) else { return nil }
        return "the record takes \(least / 1_000) µs: \(bytes) bytes read and written, \(devices) devices; "
            + "this machine is slower by the factor \(speed.slowness)"
    }
}

extension RecordResult {
    private func has(_ decision: Decision, of item: Int) -> Bool {
        String(decoding: decision.value.prefix(40), as: UTF8.self).hasPrefix(#"{"decision":"links-0-7.\#(item)-"#)
    }

    /// Returns the decisions of an item with the ids of a record of its own, or all decisions of such a record.
    fileprivate func texts(of item: Int, isAlone: Bool = false) -> [String] {
        decisions.filter { isAlone || has($0, of: item) }.map {
            String(decoding: $0.key + $0.value, as: UTF8.self).replacing("links-0-7.\(item)", with: "links-0-7")
        }
    }

    /// Returns the results of all items but one.
    fileprivate func others(_ item: Int) -> [String] {
        decisions.filter { !has($0, of: item) }.map { String(decoding: $0.key + $0.value, as: UTF8.self) }
            + (cause?.all ?? []).filter { $0.item != item }.map {
                "\($0.item ?? -1) \($0.reason) \($0.detail) \($0.pointer ?? "") \($0.event ?? [])"
            }
    }
}
