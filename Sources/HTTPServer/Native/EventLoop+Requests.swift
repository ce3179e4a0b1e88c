internal import CLibrary
internal import CMicroHTTPD

/// The calls back of libmicrohttpd, in the order of a request.
extension EventLoop {
    /// The functions that libmicrohttpd calls, without the loop.
    static var callbacks: linkd_http_callbacks {
        linkd_http_callbacks(
            context: nil,
            access: { context, handle, _, method, _, bytes, count, _ in
                guard let loop = EventLoop.from(context), let connection = HTTPConnection.from(handle), let count else {
                    return linkd_http_no
                }
                let body = UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count.pointee)
                count.pointee = 0
                let isAccepted = loop.access(connection, method: method, body: body)
                return isAccepted ? linkd_http_yes : linkd_http_no
            },
            target: { context, target, handle in
                guard let loop = EventLoop.from(context), let connection = HTTPConnection.from(handle), let target
                else {
                    return nil
                }
                loop.beginRequest(connection, target: target)
                return nil
            },
            completed: { context, handle, _, _ in
                guard let loop = EventLoop.from(context), let connection = HTTPConnection.from(handle) else { return }
                loop.endRequest(connection)
            },
            notify: { context, handle, socketContext, code in
                guard let loop = EventLoop.from(context), let handle, let socketContext else { return }
                if linkd_http_is_start(code) != 0 {
                    socketContext.pointee = Unmanaged.passRetained(loop.begin(handle)).toOpaque()
                } else if let pointer = socketContext.pointee {
                    socketContext.pointee = nil
                    loop.end(Unmanaged<HTTPConnection>.fromOpaque(pointer).takeRetainedValue())
                }
            })
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> EventLoop? {
        context.map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Begins a request whose request line has arrived.
    private func beginRequest(_ connection: HTTPConnection, target: UnsafePointer<CChar>) {
        connection.hasBegun = true
        connection.requests += 1
        let bytes = UnsafeRawBufferPointer(start: target, count: strlen(target))
        // The library keeps each query item in the memory of the connection. It does not answer if the memory is full.
        guard bytes.count <= configuration.maxHeaderBytes,
            bytes.count(where: { $0 == UInt8(ascii: "&") }) < configuration.maxQueryItems
        else { return refuse(connection, .headersTooLarge) }
        connection.target = HTTPTarget(bytes)
    }

    private func endRequest(_ connection: HTTPConnection) {
        connection.endRequest(deadline: deadline(milliseconds: configuration.requestMilliseconds))
        if isStopping { shutDown(connection) }
    }

    /// Reacts to the headers, to a part of the body, and to the end of a request, each a call of its own.
    ///
    /// After the end of the request there is a further call, when the handler has answered and the connection is
    /// resumed.
    ///
    /// Returns false if the library closes the connection.
    private func access(_ connection: HTTPConnection, method: UnsafePointer<CChar>?, body: UnsafeRawBufferPointer)
        -> Bool
    {
        if connection.isAborted { return false }
        if connection.phase == .refused && connection.request != nil { return !body.isEmpty }
        if connection.request == nil {
            receiveHeaders(connection, HTTPMethod(rawValue: method.map { String(cString: $0) } ?? ""))
            return true
        }
        if body.isEmpty { return receiveEnd(connection) }
        receiveBody(connection, body)
        return true
    }

    private func receiveHeaders(_ connection: HTTPConnection, _ method: HTTPMethod) {
        let headers = RequestHeaders.read(connection.handle)
        connection.request = HTTPRequest(
            method: method, path: connection.target?.path ?? "/", query: connection.target?.query ?? [],
            headers: headers.fields, peer: connection.peer)
        // The target was too large.
        if connection.phase == .refused { return }
        // An ambiguous end of the request makes everything after the headers ambiguous. So does a header that a proxy
        // can read in another way.
        guard headers.isFramed, headers.isPlain else { return refuse(connection, .badRequest) }
        guard headers.bodyBytes <= configuration.maxBodyBytes else { return refuse(connection, .contentTooLarge) }
        if connection.isExcess {
            connection.response = Refusal.unavailable.response
        } else if linkd_http_header_bytes(connection.handle) > configuration.maxHeaderBytes {
            connection.response = Refusal.headersTooLarge.response
        } else if connection.target == nil {
            connection.response = Refusal.badRequest.response
        } else if let answerEarly, let request = connection.request {
            connection.response = answerEarly(request)
        }
    }

    private func receiveBody(_ connection: HTTPConnection, _ body: UnsafeRawBufferPointer) {
        // A request that is already answered is read to its end, and its body is discarded.
        if connection.response != nil { return }
        guard let count = connection.request?.body.count, body.count <= configuration.maxBodyBytes - count else {
            return refuse(connection, .contentTooLarge)
        }
        connection.request?.body.append(contentsOf: body)
    }

    private func receiveEnd(_ connection: HTTPConnection) -> Bool {
        if let response = connection.response {
            connection.response = nil
            return respond(connection, response)
        }
        guard let request = connection.request, connection.phase == .receiving else { return false }
        connection.phase = .handling
        connection.deadline = deadline(milliseconds: configuration.handlerMilliseconds)
        MHD_suspend_connection(connection.handle)
        let (number, count) = (connection.number, connection.requests)
        pools.pool(of: request.path).submit { [handler, mailbox] in
            mailbox.post(handler(request), connection: number, request: count)
        }
        return true
    }

    /// Refuses a connection whose request is not read to its end.
    ///
    /// The bytes of a refusal go past the library, so with TLS the connection is closed without them.
    func refuse(_ connection: HTTPConnection, _ refusal: Refusal) {
        if configuration.tls != nil { return shutDown(connection) }
        connection.refuse(refusal, deadline: deadline(nanoseconds: Self.refusalNanoseconds))
    }

    // MARK: Responses

    private func respond(_ connection: HTTPConnection, _ response: HTTPResponse) -> Bool {
        var response = response
        if connection.request?.method == .head, case .stream(let stream) = response.body {
            // Version 0.9.75 of the library ends the response with an empty chunk, which is not allowed after HEAD.
            stream.close()
            response.body = .bytes([])
        }
        connection.phase = .responding
        connection.deadline = deadline(milliseconds: configuration.responseMilliseconds)
        let closes = isStopping || connection.isExcess
        if case .stream(let stream) = response.body {
            let (mailbox, number) = (mailbox, connection.number)
            guard stream.begin({ mailbox.post { $0.streams.insert(number) } }) else { return fail(connection) }
            connection.stream = stream
            if isStopping { stream.finish() } else { produce(stream) }
        }
        let source =
            connection.stream == nil ? nil : StreamSource { [unowned self] in read(connection, into: $0) }
        return NativeResponse.queue(response, source: source, closes: closes, connection.handle) || fail(connection)
    }

    /// Answers with an error of the handler's response.
    private func fail(_ connection: HTTPConnection) -> Bool {
        connection.stream?.close()
        connection.stream = nil
        let response = HTTPResponse.text("the response is not valid", status: 500)
        return NativeResponse.queue(response, source: nil, closes: true, connection.handle)
    }

    /// Copies the next bytes of a stream, and suspends the connection if there are none.
    ///
    /// Returns the number of bytes, or one of the library's negative codes.
    func read(_ connection: HTTPConnection, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard !connection.isAborted, let stream = connection.stream else { return Int(linkd_http_end_with_error) }
        switch stream.next(into: buffer) {
        case .copied(let count):
            connection.deadline = deadline(milliseconds: configuration.responseMilliseconds)
            produce(stream)
            return count
        case .end: return Int(linkd_http_end_of_stream)
        case .wait:
            connection.phase = .waiting
            connection.deadline = deadline(nanoseconds: Self.checkNanoseconds)
            MHD_suspend_connection(connection.handle)
            produce(stream)
            return 0
        }
    }
}

extension HTTPConnection {
    /// Returns the state of a connection of the library.
    fileprivate static func from(_ handle: OpaquePointer?) -> HTTPConnection? {
        guard let handle, let pointer = linkd_http_context(handle) else { return nil }
        return Unmanaged<HTTPConnection>.fromOpaque(pointer).takeUnretainedValue()
    }
}

/// The stream of a response, retained by the library until the response is sent.
final class StreamSource {
    /// The function that copies the next bytes, as `EventLoop.read` does.
    fileprivate let read: (UnsafeMutableRawBufferPointer) -> Int

    init(_ read: @escaping (UnsafeMutableRawBufferPointer) -> Int) { self.read = read }
}

/// Conversions of responses to the responses of libmicrohttpd.
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
