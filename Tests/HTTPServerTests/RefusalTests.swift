import Foundation
import Testing

@testable import HTTPServer

/// Responses of the server itself.
@Suite struct RefusalTests {
    @Test("A date has the format of HTTP on any day")
    func dates() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        // The first day, leap days, the ends of a century and of a 400-year cycle, and then a day of each week.
        let special = [0, 951_782_400, 951_868_799, 1_709_164_800, 4_107_542_399, 4_107_542_400, 13_569_465_600]
        for seconds in special + (0..<3000).map({ $0 * 608_461 }) {
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(Refusal.date(seconds) == formatter.string(from: date))
        }
    }

    @Test("The bytes of a refusal are a complete response", arguments: [400, 408, 413, 431, 503])
    func bytes(status: Int) throws {
        let refusal = try #require(Refusal(rawValue: status))
        let text = String(decoding: refusal.bytes(seconds: 0), as: UTF8.self)
        let parts = text.components(separatedBy: "\r\n\r\n")
        try #require(parts.count == 2)
        #expect(parts[0].hasPrefix("HTTP/1.1 \(status) ") && parts[0].contains("\r\nConnection: close\r\n"))
        #expect(
            parts[0].contains("\r\nX-Content-Type-Options: nosniff") && parts[0].contains("\r\nCache-Control: no-store")
        )
        #expect(parts[0].contains("\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'"))
        #expect(parts[0].contains("\r\nContent-Length: \(parts[1].utf8.count)\r\n"))
    }
}
