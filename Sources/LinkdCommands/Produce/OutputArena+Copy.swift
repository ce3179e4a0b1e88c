internal import ByteStorage
internal import KafkaClient

extension OutputArena {
    /// Returns a copy of the bytes, which is valid until `reset`.
    mutating func copy(_ bytes: [UInt8]) -> ByteView {
        begin()
        append(bytes)
        return finish()
    }

    /// Returns copies of headers, which are valid until `reset`.
    mutating func copy(_ headers: [RecordHeader]) -> [HeaderView] {
        var views: [HeaderView] = []
        for header in headers {
            let name = copy(header.name)
            var value: ByteView?
            if let bytes = header.value { value = copy(bytes) }
            views.append(HeaderView(name: name, value: value))
        }
        return views
    }
}
