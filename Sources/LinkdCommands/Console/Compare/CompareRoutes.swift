internal import DispatchWorker
internal import HTTPServer
internal import LinkCoordinator
internal import RouteAnalysis
internal import StrictJSON
internal import SystemThreads

/// The endpoint `/api/compare`: the effects of a candidate for a served table.
///
/// One comparison runs at a time, on the thread of its request.
struct CompareRoutes {
    /// The maximum size of a candidate in bytes.
    static let maxCandidateBytes = 4 << 20
    /// The maximum size of recorded links in bytes.
    static let maxTrafficBytes = 1 << 20
    /// The time after which a comparison ends incomplete, in seconds from the request.
    static let maxSeconds = 25.0

    private let site: ConsoleSite
    private let traffic: RouteTraffic?
    private let status: (@Sendable () -> [UInt8]?)?
    private let isBusy = Monitor(false)

    /// Adds the endpoint.
    ///
    /// - Parameters:
    ///   - router: The router to which it is added.
    ///   - site: The shared state.
    ///   - traffic: The recent decisions of routes, or nil without a broker.
    ///   - status: A function that returns a worker's page `/status`, or nil if there is no worker.
    static func add(
        to router: inout ConsoleRouter, _ site: ConsoleSite, traffic: RouteTraffic? = nil,
        status: (@Sendable () -> [UInt8]?)? = nil
    ) {
        let routes = CompareRoutes(site: site, traffic: traffic, status: status)
        router.post("/api/compare") { request throws(ConsoleProblem) in try routes.compare(request) }
    }

    private func compare(_ request: HTTPRequest) throws(ConsoleProblem) -> HTTPResponse {
        let body = try RequestBody(request, members: ["table", "candidate", "traffic"])
        let served = try site.table(try body.text("table", maxBytes: 64)).table
        let candidate = try body.text("candidate", maxBytes: Self.maxCandidateBytes) ?? ""
        let lines = try body.text("traffic", maxBytes: Self.maxTrafficBytes)
        guard !candidate.isEmpty else {
            throw ConsoleProblem(
                code: "candidate", message: "there is no candidate", next: "send the text of a table file")
        }
        guard
            isBusy.withLock({ (isBusy: inout Bool) in
                defer { isBusy = true }
                return !isBusy
            })
        else {
            throw ConsoleProblem(
                status: 429, code: "busy", message: "another comparison is running", next: "try again in a few seconds")
        }
        defer { isBusy.withLock { $0 = false } }
        return .json(try answer(served, Array(candidate.utf8), lines))
    }

    private func answer(
        _ served: RouteTable, _ candidate: [UInt8], _ lines: String?
    ) throws(ConsoleProblem) -> String {
        let start = Platform.monotonicSeconds
        let isOver = { @Sendable in Platform.monotonicSeconds > start + Self.maxSeconds }
        guard let checked = CheckedTable(path: "candidate", json: candidate, until: isOver) else {
            // A part of the check that was left out can refuse the table, so there is no answer.
            throw ConsoleProblem(
                status: 422, code: "too_slow",
                message: "the check of the candidate has not ended within \(Int(Self.maxSeconds)) s",
                next: "run `linkd routes check` with it, which has no limit of time")
        }
        return JSONText.object { json in
            json.text("old", served.identity)
            json.text("new", checked.table?.identity)
            json.boolean("ok", checked.table != nil)
            CandidateProblems(checked).write(to: &json, until: isOver)
            if let table = checked.table {
                json.boolean("same", table.hash == served.hash)
                let difference = table.difference(from: served, until: isOver)
                let counts = traffic?.counts(served.id)
                ComparisonJSON(difference, old: served, new: table, counts: counts?.routes).write(to: &json)
                if let counts { json.number("since", counts.sinceMilliseconds) }
                if let lines { write(traffic: lines, served, table, to: &json, until: isOver) }
            }
            writeCanary(served, to: &json)
            json.number("milliseconds", Int64((Platform.monotonicSeconds - start) * 1000))
        }
    }

    private func write(
        traffic lines: String, _ old: RouteTable, _ new: RouteTable, to json: inout JSONText, until isOver: () -> Bool
    ) {
        let reader = TrafficReader(old: old, new: new, site.settings, site.vendors)
        var isCut = false
        for line in Array(lines.utf8).split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            isCut = isOver()
            if isCut { break }
            reader.add(Array(line))
        }
        ComparisonJSON.write(reader, isCut: isCut, old: old, new: new, to: &json)
    }

    /// Writes the counts of a worker's canary for the table, if there is one.
    private func writeCanary(_ served: RouteTable, to json: inout JSONText) {
        guard let page = status?(), let totals = try? CanaryReport.totals(of: page),
            totals.base.hasPrefix(served.id + "@")
        else { return }
        json.text("canaryTable", totals.table)
        CanaryReport(totals).write(to: &json)
    }
}
