internal import DispatchWorker
internal import RouteTools
internal import StrictJSON

/// The report of a canary in a saved page `/status`, which is read strictly.
struct CanaryReport {
    /// The size limit of the page in bytes.
    static let limitBytes = 16 << 20

    /// The totals of the canary.
    let totals: CanaryTotals

    /// Creates a report of totals.
    init(_ totals: CanaryTotals) { self.totals = totals }

    /// Reads a saved page.
    ///
    /// A file that cannot be read ends with exit code 78. One that is no such page, or has no canary, ends with 65.
    init(path: String) throws(CommandFailure) {
        let bytes = try Platform.required(
            path, limit: Self.limitBytes, as: Escaping.visible(path),
            advice: "save the page with: curl -fsS http://HOST:PORT/status > FILE")
        do throws(StatusProblem) {
            self.init(try Self.totals(of: bytes))
        } catch {
            throw CommandFailure(
                .badData, "\(Escaping.visible(path)): \(error.text)",
                advice: "save `/status` of a worker with `canary.table`: curl -fsS http://HOST:PORT/status > FILE")
        }
    }

    /// The reason why a page has no valid canary.
    struct StatusProblem: Error {
        /// A description of what was expected.
        var text: String
    }

    /// Reads the canary of a page.
    static func totals(of page: [UInt8]) throws(StatusProblem) -> CanaryTotals {
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue.parse(page, maxDepth: 64)
        } catch {
            throw StatusProblem(text: "expected the JSON object of `/status`: \(error.text) (byte \(error.offset))")
        }
        guard document["librdkafka"]?.string != nil, document["tables"]?.array != nil else {
            throw StatusProblem(text: "expected the JSON object of `/status`")
        }
        guard let canary = document["canary"] else { throw StatusProblem(text: "the worker had no canary") }
        var totals = CanaryTotals(
            table: try text(canary["table"], "/canary/table"), base: try text(canary["base"], "/canary/base"),
            percent: try hundredths(canary["percent"], "/canary/percent"),
            compare: try hundredths(canary["compare"], "/canary/compare"))
        totals.decided = try count(canary["decided"], "/canary/decided")
        totals.compared = try count(canary["compared"], "/canary/compared")
        totals.different = try count(canary["different"], "/canary/different")
        totals.routes = try routes(canary["routes"])
        let sum = totals.routes.reduce(0 as UInt64) { $0.addingReportingOverflow($1.count).partialValue }
        guard totals.different <= totals.compared, sum == totals.different else {
            throw StatusProblem(
                text: "expected that the counts of /canary/routes sum up to /canary/different, at most "
                    + "/canary/compared")
        }
        return totals
    }

    private static func routes(_ value: JSONValue?) throws(StatusProblem) -> [CanaryTotals.Route] {
        guard let list = value?.array, list.count <= CanaryTotals.routeLimit + 1 else {
            throw StatusProblem(
                text: "expected a list of at most \(CanaryTotals.routeLimit + 1) objects at /canary/routes")
        }
        var result: [CanaryTotals.Route] = []
        for (index, route) in list.enumerated() {
            let place = "/canary/routes/\(index)"
            let name = try text(route["route"], place + "/route")
            guard !result.contains(where: { $0.name == name }) else {
                throw StatusProblem(text: "expected each route once, found it again at \(place)/route")
            }
            result.append(
                CanaryTotals.Route(
                    name: name, count: try count(route["count"], place + "/count"),
                    witness: try text(route["witness"], place + "/witness")))
        }
        return result
    }

    private static func text(_ value: JSONValue?, _ place: String) throws(StatusProblem) -> String {
        guard let text = value?.string, (1...1_024).contains(text.utf8.count) else {
            throw StatusProblem(text: "expected a text of 1 to 1,024 bytes at \(place)")
        }
        return text
    }

    private static func count(_ value: JSONValue?, _ place: String) throws(StatusProblem) -> UInt64 {
        guard let count = value?.integer, count >= 0 else {
            throw StatusProblem(text: "expected a whole number that is not negative at \(place)")
        }
        return UInt64(count)
    }

    /// Returns a percentage in hundredths.
    private static func hundredths(_ value: JSONValue?, _ place: String) throws(StatusProblem) -> Int {
        guard case .number(let text)? = value?.kind, let percent = Double(text), (0...100).contains(percent) else {
            throw StatusProblem(text: "expected a number from 0 to 100 at \(place)")
        }
        return Int((percent * 100).rounded())
    }

    /// Prints the totals, and the routes by their number of differences, each with a witness.
    func print(on out: Channel) {
        let decided = Counts.text(Int(clamping: totals.decided), "decision")
        out.line("the candidate decides for \(Self.percent(totals.percent)) % of the devices: \(decided)")
        let compared = Counts.text(Int(clamping: totals.compared), "decision")
        let share = Self.percent(totals.compare)
        out.line("compared for \(share) % of the others: \(totals.different) of \(compared) differ")
        guard !totals.routes.isEmpty else { return }
        out.line()
        var lines = TextTable([("COUNT", .right), ("ROUTE", .left), ("FIRST", .left)])
        for route in sorted {
            lines.add(["\(route.count)", Escaping.visible(route.name), Escaping.visible(route.witness)], [nil, .name])
        }
        for line in lines.lines(style: out.style) { out.line(line) }
    }

    /// Writes the members of the object `canary`.
    func write(to json: inout JSONText) {
        json.beginObject("canary")
        json.decimal("percent", Double(totals.percent) / 100)
        json.decimal("compare", Double(totals.compare) / 100)
        json.number("decided", Int64(clamping: totals.decided))
        json.number("compared", Int64(clamping: totals.compared))
        json.number("different", Int64(clamping: totals.different))
        json.objects("routes", of: sorted) { json, route in
            json.text("route", route.name)
            json.number("count", Int64(clamping: route.count))
            json.text("witness", route.witness)
        }
        json.endObject()
    }

    private var sorted: [CanaryTotals.Route] {
        totals.routes.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }

    /// Returns hundredths of a percent as a number with the decimal places that it needs.
    private static func percent(_ hundredths: Int) -> String {
        SettingValue.decimal(Int64(hundredths), places: 2).description
    }
}
