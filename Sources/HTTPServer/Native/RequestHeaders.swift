internal import CMicroHTTPD

/// The headers of a request, and what they say about its body.
struct RequestHeaders {
    private(set) var fields: HTTPHeaders = [:]
    /// A Boolean value that indicates whether every name is a token, and no value has a control character.
    ///
    /// A space before the colon is part of the name here. A proxy that drops it reads another header (RFC 9112, section
    /// 5.1).
    private(set) var isPlain = true
    /// The numbers of headers that determine the length of the body.
    private var lengths = 0
    private var encodings = 0
    private var hasUnknownLength = false
    /// The length of the body in bytes, or 0 if it is not known in advance.
    private(set) var bodyBytes = 0

    /// Reads the headers of a request.
    static func read(_ handle: OpaquePointer) -> RequestHeaders {
        var list = RequestHeaders()
        withUnsafeMutablePointer(to: &list) { list in
            linkd_http_headers(
                handle,
                { context, _, name, nameCount, value, valueCount in
                    context?.assumingMemoryBound(to: RequestHeaders.self).pointee.add(
                        UnsafeRawBufferPointer(start: name, count: name == nil ? 0 : nameCount),
                        UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount))
                    return linkd_http_yes
                }, list)
        }
        return list
    }

    /// A Boolean value that indicates whether the end of the request is unambiguous.
    var isFramed: Bool { lengths <= 1 && encodings <= 1 && lengths + encodings <= 1 && !hasUnknownLength }

    /// Returns a Boolean value that indicates whether a byte can be in a token (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let isName = !name.isEmpty && name.allSatisfy(Self.isTokenByte)
        if !isName || !value.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) { isPlain = false }
        let (name, value) = (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        if HTTPHeaders.isSame(name, "Content-Length") {
            lengths += 1
            let isNumber = !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
            if isNumber { bodyBytes = Int(value) ?? .max } else { hasUnknownLength = true }
        } else if HTTPHeaders.isSame(name, "Transfer-Encoding") {
            encodings += 1
            if !HTTPHeaders.isSame(value, "chunked") { hasUnknownLength = true }
        }
        fields.add(name, value)
    }
}
