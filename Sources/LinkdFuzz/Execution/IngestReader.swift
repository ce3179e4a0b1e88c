internal import ByteStorage
internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest

/// An event reader that explains records, as `linkd resolve --explain` does.
final class IngestReader {
    private var reader: EventReader
    private let memory = RecordMemory(isPacked: false)

    init(_ environment: FuzzEnvironment) {
        reader = EventReader(environment.configuration)
    }

    /// The limit of devices for which a record is explained, because each explanation reads the message again.
    private static let maxExplained = 5

    /// Returns the digest of what a record opens for each device.
    ///
    /// The devices are selected from the last to the first, the opposite of the order of a worker.
    func digest(_ record: FuzzRecord) -> UInt64 {
        defer { memory.free() }
        var digest = Digest()
        let headers = record.headers.map { header in
            HeaderView(name: memory.copy(header.name), value: header.value.map { memory.copy($0) })
        }
        let value = memory.copy(record.value)
        let key = record.key.map { memory.copy($0) }
        guard reader.readInPlace(value: value, key: key, headers: headers) else {
            let failure = reader.failure
            let pointer = failure.pointer(in: value) ?? "none"
            digest.add(Array("\(failure.reason) \(failure.detail) \(failure.offset ?? -1) \(pointer)".utf8))
            return digest.value
        }
        let event = reader.eventPointer
        digest.add(event.pointee.id)
        digest.add(Array("\(reader.envelope) \(reader.cloudEventsMode ?? "")".utf8))
        for index in (0..<event.pointee.deviceCount).reversed() {
            guard reader.selectDevice(at: index) else {
                digest.add(Array("internal".utf8))
                return digest.value
            }
            add(event.pointee.request, to: &digest)
            digest.add(reader.devicePointer.pointee.id)
            digest.add(reader.devicePointer.pointee.context)
            if index < Self.maxExplained, let explanation = reader.explainMessage() {
                digest.add(Array("\(explanation)".utf8))
            }
        }
        return digest.value
    }

    private func add(_ request: RequestView, to digest: inout Digest) {
        digest.add(Array("\(request.form)".utf8))
        digest.add(request.text)
        for opening in [request.tapped, request.found] {
            digest.add(Array("\(opening.kind)".utf8))
            digest.add(opening.link)
        }
        for note in request.notes {
            digest.add(note.code)
            digest.add(note.place)
        }
        for root in request.roots { digest.add(root) }
    }
}
