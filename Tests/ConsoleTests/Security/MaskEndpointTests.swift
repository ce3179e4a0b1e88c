import Foundation
import TestSupport
import Testing

/// A console with `--mask`, on topics that a worker fills.
@Suite(.enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct MaskEndpointTests {
    /// Texts of events that no answer may contain, in any case.
    private static let secrets = ["secret", "5ec2e7ab"]
    private static let product = "5EC2E7AB-EA65-49F8-8B33-B3C43FA93866"

    /// Events whose ids, devices, and links contain the secrets in every place that can show them.
    private static func events(_ world: ConsoleWorld) throws -> [String] {
        let links = [
            "https://shop.example/p/\(product)?count=3&utm_source=secret", "shop:///p/\(product)",
            "shop:///search?q=secret",
            "shop://secret.example/p/\(product)", "other://secret/p", "https://shop.example/p/\(product)?count=5000",
            "https://secret:secret@shop.example/p/\(product)", "coordinator://secret/7",
            "shop://secret.shop.example/p/new",
            "https://shop.example/de/legal/secret", "shop:///orders/7?x=secret#secret", "secret",
        ]
        let lines = try links.enumerated().map { number, link in
            try world.event("secret-\(number)", link: link, device: "secret-device", campaign: "spring")
        }
        return lines + [
            #"{"id":"secret-20","application":"com.example.shop","path":"/account/order(id=secret)","#
                + #""device":{"id":"secret-device","app":"6.1.0","attributes":{"secret":"secret"}}}"#,
            #"{"id":"secret-21","application":"com.example.shop","payload":{"secret":"secret"},"#
                + #""device":{"id":"secret-device"}}"#,
            #"{"id":"secret-22","application":"com.example.shop","link":["secret"],"device":{"id":"secret-device"}}"#,
            "secret please", #"{"id":"secret-23","link":"shop:///","device":{"id":"secret-device","app":["secret"]}}"#,
        ]
    }

    /// The answers of a console, by their paths.
    private static func answers(_ world: ConsoleWorld) throws -> [(path: String, text: String)] {
        let console = world.console
        func text(_ path: String) throws -> (String, String) {
            (path, try console.send("GET \(path)", headers: [console.bearer]).text)
        }
        var answers = try [
            "/api/info", "/api/worker", "/api/decisions?kind=any&limit=200&histogram=20", "/api/deadletters?limit=200",
            "/api/decisions.csv?kind=any", "/api/map?table=shop", "/api/route?table=shop&route=item",
        ].map(text)
        for by in ["outcome", "route", "reason", "campaign", "application", "table"] {
            answers.append(try text("/api/chart?kind=any&by=\(by)"))
        }
        for row in try console.get("/api/decisions?limit=200")["rows"].elements {
            let place = [row["partition"].number, row["offset"].number].map { Int($0 ?? -1) }
            answers.append(try text("/api/decision?partition=\(place[0])&offset=\(place[1])&around=20"))
            answers.append(try text("/api/decision?id=\(row["id"].text ?? "")"))
        }
        let replay = try console.send(
            "POST /api/replay", headers: [console.bearer, "Content-Type: application/json", "X-Linkd-Console: 1"],
            body: "{}")
        answers.append(("/api/replay", replay.text))
        return answers
    }

    @Test("With --mask, no answer contains the id of a device or of an event, or what a link contains")
    func leaks() throws {
        let world = try ConsoleWorld(["--mask", "--allow-replay"])
        defer { world.stop() }
        let live = try RawClient(port: world.console.port)
        live.send(
            "GET /api/decisions/live?kind=any HTTP/1.1\r\nHost: \(world.console.host)\r\n"
                + "\(world.console.bearer)\r\n\r\n"
        )
        _ = try live.readHead()
        let events = try Self.events(world)
        try world.send(events)
        let _: Bool = try eventually("the decisions of the events", seconds: 60) {
            (try world.console.get("/api/decisions?kind=any&limit=0")["total"].number ?? 0) >= Double(events.count)
                ? true : nil
        }
        var stream = ""
        while !stream.contains("\"partition\""), let chunk = try live.readChunk() {
            stream += String(decoding: chunk, as: UTF8.self)
        }
        let answers = try Self.answers(world) + [("/api/decisions/live", stream)]
        #expect(answers.count > 25 && answers.contains { $0.text.contains("masked-") })
        for (path, text) in answers {
            let plain = text.lowercased().replacing(world.input.lowercased(), with: "")
            for secret in Self.secrets {
                guard let place = plain.firstRange(of: secret) else { continue }
                let context = plain[..<place.lowerBound].suffix(200) + plain[place.lowerBound...].prefix(60)
                Issue.record("\(path): …\(context)")
            }
        }
    }
}
