internal import ByteStorage

/// The flags `--key` and `--header`, with the effect that a worker gives to the key and the headers of a record.
final class RecordFlags {
    /// The key, or nil if the flag was not given.
    private(set) var key: ByteView?
    private(set) var headers: [HeaderView] = []
    /// The memory of the views.
    private var arena = OutputArena(chunkBytes: 4096)

    init(key: String?, headers pairs: [KeyValue]) {
        self.key = key.map { copy($0) }
        headers = pairs.map { HeaderView(name: copy($0.key), value: copy($0.value)) }
    }

    private func copy(_ text: String) -> ByteView {
        arena.begin()
        for byte in text.utf8 { arena.append(byte: byte) }
        return arena.finish()
    }
}
