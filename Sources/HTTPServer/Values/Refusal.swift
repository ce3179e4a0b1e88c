internal import ByteStorage

/// Responses of the server itself, to requests that never reach the handler.
enum Refusal: Int {
    case badRequest = 400
    case requestTimeout = 408
    case contentTooLarge = 413
    case headersTooLarge = 431
    case unavailable = 503

    private var reason: String {
        switch self {
        case .badRequest: "Bad Request"
        case .requestTimeout: "Request Timeout"
        case .contentTooLarge: "Content Too Large"
        case .headersTooLarge: "Request Header Fields Too Large"
        case .unavailable: "Service Unavailable"
        }
    }

    private var text: String {
        switch self {
        case .badRequest: "the request is not valid HTTP/1.1 with a percent-encoded UTF-8 path"
        case .requestTimeout: "the request did not arrive in time"
        case .contentTooLarge: "the body of the request is too large"
        case .headersTooLarge: "the headers of the request are too large"
        case .unavailable: "the server is busy; repeat the request later"
        }
    }

    /// The headers with which a browser neither loads nor runs anything, and shows the text in no frame.
    private static let restrictions = [
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"), ("Referrer-Policy", "no-referrer"),
    ]

    /// The response for a request that was read to its end.
    var response: HTTPResponse {
        var headers: HTTPHeaders = self == .unavailable ? ["Retry-After": "1"] : [:]
        for (name, value) in Self.restrictions { headers.add(name, value) }
        return .text(text, status: rawValue, headers: headers)
    }

    /// The whole response as bytes, for a request that is not read to its end.
    ///
    /// - Parameter seconds: The seconds since 1970, for the `Date` header.
    func bytes(seconds: Int) -> [UInt8] {
        let body = "\(text)\n"
        let lines = [
            "HTTP/1.1 \(rawValue) \(reason)", "Date: \(Self.date(seconds))", "Connection: close",
            "Content-Type: text/plain; charset=utf-8", "Content-Length: \(body.utf8.count)",
            "Cache-Control: no-store", "X-Content-Type-Options: nosniff",
        ]
        let restrictions = Self.restrictions.map { "\($0): \($1)" }
        return Array((lines + restrictions + ["", body]).joined(separator: "\r\n").utf8)
    }

    /// Returns a time in the format of the `Date` header.
    static func date(_ seconds: Int) -> String {
        let days = Int64(seconds) / 86_400
        let date = CivilDate(daysSince1970: days)
        let text = UTCDateTime.text(seconds: Int64(seconds))
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        return "\(weekdays[Int(days % 7)]), \(text.dropFirst(8).prefix(2)) \(months[date.month - 1]) \(date.year) "
            + "\(text.suffix(8)) GMT"
    }
}
