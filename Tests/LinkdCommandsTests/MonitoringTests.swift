internal import Foundation
internal import StrictJSON
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import DispatchWorker
@testable internal import LinkdCommands

/// The pages of a running worker.
@Suite struct MonitoringTests {
    static let table = Checkout.root.appending(path: "config/routes/shop.json").path

    /// Starts a worker with an HTTP server on a free port.
    static func worker(_ bootstrap: String, _ flags: [String] = []) throws -> RunningLinkd {
        try RunningLinkd(
            ["worker", "-b", bootstrap, "--table", table, "--http-listen", "127.0.0.1:0", "--log-format", "json"]
                + ["--start-timeout", "5m"] + flags)
    }

    @Test("A worker without a broker answers from its start, and says why it is not ready")
    func beforeTheBroker() async throws {
        try await onThread {
            let worker = try Self.worker("127.0.0.1:9")
            let address = try #require(worker.httpAddress)
            let ping = try HTTPFetch(address, "/ping")
            #expect(ping.status == 200 && ping.body == "ok\n")
            let ready = try HTTPFetch(address, "/ready")
            #expect(ready.status == 503)
            #expect(ready.body.hasPrefix("starting"), "\(ready.body)")
            let metrics = try HTTPFetch(address, "/metrics")
            #expect(metrics.head.lowercased().contains("content-type: text/plain; version=0.0.4; charset=utf-8"))
            #expect(metrics.value("linkd_build_info{") == 1)
            #expect((metrics.value("process_cpu_seconds_total") ?? 0) > 0)
            #expect((metrics.value("process_start_time_seconds") ?? 0) > 1.7e9)
            let status = try HTTPFetch(address, "/status")
            #expect(status.head.lowercased().contains("content-type: application/json"))
            let document = try JSONValue.parse(Array(status.body.utf8))
            #expect(document["version"]?.string == LinkdVersion.text)
            #expect(document["ready"]?.text == "false")
            #expect(try HTTPFetch(address, "/").status == 404)
            #expect(try HTTPFetch(address, "/metrics", method: "POST").status == 405)
            worker.signal(SIGTERM)
            #expect(try worker.end() == 0, "\(worker.log)")
        }
    }

    @Test("Many scrapes at the same time are answered")
    func manyScrapes() async throws {
        try await onThread {
            let worker = try Self.worker("127.0.0.1:9")
            let address = try #require(worker.httpAddress)
            let good = Atomic<Int>(0)
            DispatchQueue.concurrentPerform(iterations: 200) { number in
                let page = try? HTTPFetch(address, ["/metrics", "/status", "/ping"][number % 3])
                if page?.status == 200 { good.wrappingAdd(1, ordering: .relaxed) }
            }
            #expect(good.load(ordering: .relaxed) == 200)
            worker.signal(SIGTERM)
            #expect(try worker.end() == 0)
        }
    }

    @Test("A port that is in use ends the worker with exit code 78, and no port is open without the setting")
    func inUse() async throws {
        try await onThread {
            let first = try Self.worker("127.0.0.1:9")
            let address = try #require(first.httpAddress)
            let second = try RunningLinkd(
                ["worker", "-b", "127.0.0.1:9", "--table", Self.table, "--http-listen", address])
            #expect(try second.end() == 78)
            #expect(second.lastLine.contains("http.listen: \(address)"), "\(second.log)")
            first.signal(SIGTERM)
            #expect(try first.end() == 0)
            let without = try LinkdProcess.run(
                ["worker", "-b", "127.0.0.1:9", "--table", Self.table, "--start-timeout", "1s"])
            #expect(!without.err.contains(#""event":"http""#))
        }
    }

    @Test("The rules and the dashboard name only metrics of the catalog")
    func names() throws {
        var names: Set<String> = ["up", "linkd"]
        for metric in MetricCatalog.all.map(\.description) {
            names.insert(metric.name)
            if metric.kind == .histogram { names.formUnion(["_bucket", "_sum", "_count"].map { metric.name + $0 }) }
        }
        var found: Set<String> = []
        for file in ["alerts.yml", "alerts-test.yml", "alerts-hours-test.yml", "dashboard.json"] {
            let path = Checkout.root.appending(path: "config/monitoring/\(file)")
            let text = try String(contentsOf: path, encoding: .utf8)
            for match in text.matches(of: #/(?:linkd|process)_[a-z_]+/#) { found.insert(String(match.0)) }
        }
        #expect(found.count >= 35)
        #expect(found.subtracting(names) == [])
    }
}

/// The pages of a worker with a real broker.
@Suite(.enabled(if: TestBroker.plain != nil, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"))
struct MonitoringBrokerTests {
    private static let environment = ["KAFKA_BOOTSTRAP_SERVERS": TestBroker.plain ?? ""]

    @Test("Committed records are counted, the lag becomes 0, and the series of revoked partitions end")
    func records() async throws {
        try await onThread {
            let input = TestBroker.uniqueName("commands-pages")
            let topics = ["--input", input, "--output", input + ".out"]
            #expect(
                try LinkdProcess.run(
                    ["topics", "create", "--partitions", "2"] + topics, environment: Self.environment
                ).code == 0)
            let flags = topics + ["--group", input, "--lanes", "1"]
            let first = try MonitoringTests.worker(TestBroker.plain ?? "", flags)
            let address = try #require(first.httpAddress)
            func metrics() throws -> HTTPFetch { try HTTPFetch(address, "/metrics") }
            func until(_ condition: () throws -> Bool) rethrows -> Bool {
                try becomesTrue(withinSeconds: 60) {
                    if try condition() { return true }
                    Thread.sleep(forTimeInterval: 0.1)
                    return false
                }
            }
            #expect(try until { try HTTPFetch(address, "/ready").status == 200 }, "\(first.log)")
            var events = (0..<40).map { #"{"id":"e\#($0)","link":"shop:///p/new","device":{"id":"d-\#($0)"}}"# }
            events.append(#"{"id":"bad"}"#)
            #expect(
                try LinkdProcess.run(
                    ["produce", "--raw", "--topic", input], input: events.joined(separator: "\n"),
                    environment: Self.environment
                ).code == 0)
            #expect(try until { try metrics().value(#"linkd_records_in_total{lane="0",topic="\#(input)"}"#) == 41 })
            let page = try metrics()
            #expect(
                page.value(#"linkd_records_out_total{lane="0",topic="\#(input).out",outcome="navigate"}"#) == 40)
            #expect(page.value(#"linkd_dlq_total{lane="0",topic="\#(input)",reason="missing_link"}"#) == 1)
            let lags = (0..<2).map { #"linkd_consumer_lag{topic="\#(input)",partition="\#($0)"}"# }
            #expect(try until { try lags.map(metrics().value) == [0, 0] })
            let second = try MonitoringTests.worker(TestBroker.plain ?? "", flags)
            #expect(try until { try lags.compactMap(metrics().value).count == 1 }, "\(second.log)")
            second.signal(SIGTERM)
            #expect(try second.end() == 0)
            first.signal(SIGTERM)
            #expect(try first.end() == 0, "\(first.log)")
        }
    }
}
