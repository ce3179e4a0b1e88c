internal import CAllocationCount
internal import LinkCoordinator

/// The benchmark `library`: `RouteTable.resolve` as an app calls it, with the memory that a call allocates.
enum LibraryBenchmark {
    /// The number of calls of a round.
    private static let calls = 20_000

    /// The greatest number of bytes that a call may allocate, mostly for the decision that it returns.
    private static let maxBytes = 48_000.0

    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        let table = try RouteTable(json: contents(of: options.table))
        let device = DeviceFacts(platform: "ios", app: "6.1.0", os: "18.0", locale: "en-GB")
        let link = "https://shop.example/ru/p/b121d5e7-ea65-49f8-8b33-b3c43fa93866?count=3"
        let requests: [(name: String, request: LinkRequest)] = [
            ("link", .link(link)), ("payload", .payload(["aps": ["alert": "Sale", "link": .string(link)]])),
            ("refused link", .link("https://another.example/")),
        ]
        report.heading("RouteTable.resolve (\(options.rounds) rounds of \(calls) calls)")
        for (name, request) in requests {
            var times: [Double] = []
            var bytes: [Double] = []
            var allocations: [Double] = []
            for _ in 0..<options.rounds {
                let before = (linkd_thread_allocated_bytes(), linkd_thread_allocations())
                times.append(
                    nanoseconds { for _ in 0..<calls { _ = table.resolve(request, device: device) } }
                        / Double(calls) / 1e3)
                bytes.append(Double(linkd_thread_allocated_bytes() - before.0) / Double(calls))
                allocations.append(Double(linkd_thread_allocations() - before.1) / Double(calls))
            }
            report.figure(name, unit: "µs", times)
            guard linkd_thread_allocations() >= 0 else { continue }
            report.figure("  allocated", unit: "bytes", bytes)
            report.figure("  allocations", unit: "", allocations)
            if let most = bytes.max(), most > maxBytes {
                throw BenchmarkError(
                    text: "\(name): a call allocates \(Int(most)) bytes, over \(Int(maxBytes))", code: 1)
            }
        }
    }
}
