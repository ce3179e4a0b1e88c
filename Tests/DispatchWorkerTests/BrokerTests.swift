import DispatchWorker
import KafkaClient
import TestSupport
import Testing

/// The worker on a real broker: the proof that the in-memory one cannot give.
@Suite(.enabled(if: BrokerEnvironment.hasBroker), .serialized)
struct BrokerTests {
    let bootstrap = BrokerEnvironment.bootstrapServers ?? ""

    @Test("Every record of an exactly-once run has one outcome, in order, and nothing hangs")
    func exactlyOnce() async throws {
        let run = try await onThread { [bootstrap] in try BrokerRun("eos", bootstrap: bootstrap) }
        try await onThread {
            try run.produce(count: 20_000) { index in
                ("d-\(index % 500)", Array((index % 100 == 7 ? "bad" : "value \(index)").utf8), [])
            }
            var configuration = run.configuration(lanes: 2)
            configuration.stopAfter = 20_000
            let log = Log(level: .info, format: .text)
            let outcome = Worker(configuration, log: log).run { _ in EchoProcessing() }
            log.close()
            #expect(outcome.exit == nil)
            #expect(outcome.report.records == 20_000)
            #expect(outcome.report.deadLetters == 200)
            #expect(outcome.report.decisions == 19_800)
            let sources = try run.read(run.input).map { "\(run.input)-\($0.partition)-\($0.offset)" }
            #expect(sources.count == 20_000)
            let check = OutcomeCheck(
                sources: sources, decisions: try run.read(run.output), deadLetters: try run.read(run.deadLetters))
            #expect(check.isGood, "\(check.summary)")
            #expect(try run.unsettled() == [])
        }
    }
}
