internal import CMicroHTTPD

/// The stream of a response, retained by the library until the response is sent.
final class StreamSource {
    /// The function that copies the next bytes, as `EventLoop.read` does.
    fileprivate let read: (UnsafeMutableRawBufferPointer) -> Int

    init(_ read: @escaping (UnsafeMutableRawBufferPointer) -> Int) { self.read = read }
}

/// Conversions of responses to those of libmicrohttpd.
enum NativeResponse {
    /// The headers that the server or the library sets.
    private static let reserved = ["Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"]

    /// Passes a response to the library.
    ///
    /// Returns false if the response is not valid.
    static func queue(
        _ response: HTTPResponse, source: StreamSource?, closes: Bool, _ connection: OpaquePointer
    ) -> Bool {
        guard (200...599).contains(response.status), let native = create(response.body, source) else { return false }
        defer { MHD_destroy_response(native) }
        var fields = response.headers.fields
        guard !fields.contains(where: { field in reserved.contains { HTTPHeaders.isSame($0, field.name) } }) else {
            return false
        }
        for (name, value) in [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
        where response.headers[name] == nil {
            fields.append(HTTPHeaders.Field(name: name, value: value))
        }
        fields.append(HTTPHeaders.Field(name: "Content-Type", value: response.contentType))
        if closes { fields.append(HTTPHeaders.Field(name: "Connection", value: "close")) }
        for field in fields {
            guard isPlain(field), MHD_add_response_header(native, field.name, field.value) == linkd_http_yes else {
                return false
            }
        }
        return MHD_queue_response(connection, UInt32(response.status), native) == linkd_http_yes
    }

    private static func create(_ body: HTTPResponse.Body, _ source: StreamSource?) -> OpaquePointer? {
        guard case .bytes(let bytes) = body else { return source.flatMap(create) }
        return bytes.withUnsafeBytes { linkd_http_bytes($0.baseAddress, $0.count) }
    }

    private static func create(_ source: StreamSource) -> OpaquePointer? {
        let retained = Unmanaged.passRetained(source)
        let native = linkd_http_stream(
            { context, _, buffer, count in
                guard let context, let buffer else { return Int(linkd_http_end_with_error) }
                return Unmanaged<StreamSource>.fromOpaque(context).takeUnretainedValue()
                    .read(UnsafeMutableRawBufferPointer(start: buffer, count: count))
            }, retained.toOpaque(), { context in context.map { Unmanaged<StreamSource>.fromOpaque($0).release() } })
        if native == nil { retained.release() }
        return native
    }

    private static func isPlain(_ field: HTTPHeaders.Field) -> Bool {
        !field.name.isEmpty && field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && !field.value.isEmpty && field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}
