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
        let (days, second) = (seconds / 86_400, seconds % 86_400)
        // The date of a day number in the proleptic Gregorian calendar, with years that begin in March.
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        let names = ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"]
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let clock = [second / 3600, second / 60 % 60, second % 60].map(two).joined(separator: ":")
        return "\(weekdays[days % 7]), \(two(day)) \(names[month]) \(year) \(clock) GMT"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
