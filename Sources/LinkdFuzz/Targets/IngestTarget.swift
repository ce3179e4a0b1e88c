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
        let reader = IngestReader(environment)
        let explained = reader.digest(record)
        if explained != reader.digest(record) { return "the second explanation is different" }
        return ingestCostViolation(record, environment) ?? resumeViolation(result, of: record, environment)
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
