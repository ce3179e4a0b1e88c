internal import DispatchWorker
internal import SystemThreads

/// The samples of `linkd demo --console`, which go through a worker again and again, so that the page shows what
/// happens now.
final class DemoTraffic: Sendable {
    /// The time between two samples in milliseconds.
    private static let pauseMilliseconds = 500

    private let worker: Worker
    private let isStopped = Monitor(false)
    private let running = Monitor(2)

    /// Starts a worker and a producer.
    init(_ pipeline: DemoPipeline, _ samples: [SampleRecord]) {
        let log = Log(level: .error, format: .text)
        worker = pipeline.makeWorker(log)
        SystemThread.start("demo worker") { [worker, running] in
            _ = pipeline.run(worker, passthrough: ["campaign"])
            log.close()
            running.signal { $0 -= 1 }
        }
        SystemThread.start("demo samples") { [isStopped, running] in
            var index = 0
            while isStopped.wait(milliseconds: Self.pauseMilliseconds, until: { $0 ? true : nil }) == nil {
                // A sample that is not accepted is missing on the page, and the next one follows.
                try? pipeline.send([samples[index % max(1, samples.count)]])
                index += 7
            }
            running.signal { $0 -= 1 }
        }
    }

    /// Stops both, and waits for their ends.
    func stop() {
        isStopped.signal { $0 = true }
        worker.stop()
        _ = running.wait(milliseconds: 10_000) { $0 == 0 ? true : nil }
    }
}
