internal import HTTPServer
internal import StrictJSON
internal import Synchronization

/// The endpoint `/api/replay`: a dry run, and then the replay of what the dry run has shown.
struct ReplayRoute {
    /// A dry run that a person has seen.
    private struct Ticket {
        var choice: ReplayFlags
        /// The choice of the dry run, with fixed times.
        var fixed: ReplayFlags
        var text = AccessToken().text
        var time = Platform.monotonicSeconds
    }

    /// The time in which the replay must follow its dry run, in seconds.
    private static let ticketSeconds = 600.0

    private let program: ReplayProgram
    private let masks: Bool

    /// Adds the endpoint if the console allows replays.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite, _ call: Invocation) {
        let route = ReplayRoute(program: ReplayProgram(call), masks: site.masks)
        let ticket = TicketBox()
        router.post("/api/replay") { request throws(ConsoleProblem) in
            guard site.allowsReplay, site.connection != nil else {
                throw ConsoleProblem(
                    status: 403, code: "replay", message: "this console does not replay dead letters",
                    next: "start it with --bootstrap and --allow-replay")
            }
            return try route.answer(request, ticket)
        }
    }

    /// The last dry run, which one replay can use.
    private final class TicketBox: Sendable {
        private let last = Mutex<Ticket?>(nil)

        /// Keeps a dry run, and returns its ticket.
        func keep(_ choice: ReplayFlags, _ fixed: ReplayFlags) -> String {
            let ticket = Ticket(choice: choice, fixed: fixed)
            last.withLock { $0 = ticket }
            return ticket.text
        }

        /// Takes the ticket of a choice, and returns what its dry run has chosen, or nil if it has none.
        func take(_ text: String, for choice: ReplayFlags) -> ReplayFlags? {
            last.withLock { last in
                guard let ticket = last, ticket.text == text, ticket.choice == choice,
                    Platform.monotonicSeconds - ticket.time < ReplayRoute.ticketSeconds
                else { return nil }
                last = nil
                return ticket.fixed
            }
        }
    }

    /// Returns a summary, with `--mask` without the example of a device.
    static func shown(_ summary: JSONValue, masks: Bool) -> JSONValue {
        guard masks, let members = summary.object else { return summary }
        return JSONValue(
            .object(
                members.map { member in
                    guard member.name == "order" else { return member }
                    let counts = (member.value.object ?? []).filter { ["devices", "later"].contains($0.name) }
                    return JSONMember(name: member.name, value: JSONValue(.object(counts)))
                }))
    }

    private func answer(_ request: HTTPRequest, _ tickets: TicketBox) throws(ConsoleProblem) -> HTTPResponse {
        let body = try RequestBody(request, members: ReplayFlags.members)
        let choice = try ReplayFlags(body)
        let ticket = try body.text("ticket", maxBytes: 64)
        var fixed = choice.fixed(now: Platform.nowMilliseconds)
        if let ticket {
            guard let shown = tickets.take(ticket, for: choice) else {
                throw ConsoleProblem(
                    status: 409, code: "ticket",
                    message: "this replay does not follow a dry run of the same dead letters",
                    next: "send the request without `ticket` first, and look at its answer")
            }
            fixed = shown
        }
        guard let result = program.run(fixed, isDryRun: ticket == nil) else {
            throw ConsoleProblem(
                status: 429, code: "busy", message: "another replay is running", next: "wait for its end")
        }
        var json = JSONText()
        json.beginObject()
        json.boolean("dryRun", ticket == nil)
        json.number("code", result.code.map { Int64($0) })
        if let summary = result.summary {
            json.value("summary", Self.shown(summary, masks: masks))
        } else {
            json.text("summary", nil)
        }
        // Warnings name devices as examples.
        json.texts("messages", masks ? [] : result.messages)
        let isReady = ticket == nil && result.summary != nil && (result.code == 0 || result.code == 1)
        json.text("ticket", isReady ? tickets.keep(choice, fixed) : nil)
        json.endObject()
        return .json(json)
    }
}
