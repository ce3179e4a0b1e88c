internal import DispatchWorker
internal import LinkIngest
internal import ByteStorage

/// The flags `--key` and `--header`, with the effect that a worker gives to the key and the headers of a record.
final class RecordFlags {
    /// The key, or nil if the flag was not given.
    private(set) var key: ByteView?
    /// The headers that determine how a value is read.
    private(set) var headers = EnvelopeHeaders()
    /// The cause for a header that prevents reading the value, or nil.
    private(set) var refusal: DeadLetterCause?
    /// The memory of the views.
    private var arena = OutputArena(chunkBytes: 4096)

    init(key: String?, headers pairs: [KeyValue]) {
        self.key = key.map { copy($0) }
        for pair in pairs {
            let (name, value) = (copy(pair.key), copy(pair.value))
            headers.add(name: name, value: value)
            if refusal == nil, let failure = WireFormat.refusal(ofHeader: name, value: value) {
                refusal = DeadLetterCause(reason: .encodingUnsupported, detail: failure.detail)
            }
        }
    }

    private func copy(_ text: String) -> ByteView {
        arena.begin()
        for byte in text.utf8 { arena.append(byte: byte) }
        return arena.finish()
    }
}
