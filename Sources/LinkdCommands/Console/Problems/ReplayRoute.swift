internal import HTTPServer
internal import StrictJSON
internal import Synchronization

/// The endpoint `/api/replay`: a dry run, and then the replay of what the dry run has shown.
struct ReplayRoute {
    /// A dry run that a person has seen.
    private struct Ticket {
        var choice: ReplayFlags
        var text = AccessToken().text
        var time = Platform.monotonicSeconds
    }

    /// The time in which the replay must follow its dry run, in seconds.
    private static let ticketSeconds = 600.0

    private let program: ReplayProgram

    /// Adds the endpoint if the console allows replays.
    static func add(to router: inout ConsoleRouter, _ site: ConsoleSite, _ call: Invocation) {
        let route = ReplayRoute(program: ReplayProgram(call))
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
        func keep(_ choice: ReplayFlags) -> String {
            let ticket = Ticket(choice: choice)
            last.withLock { $0 = ticket }
            return ticket.text
        }

        /// Takes the ticket of a choice, or returns false if it has none.
        func take(_ text: String, for choice: ReplayFlags) -> Bool {
            last.withLock { last in
                guard let ticket = last, ticket.text == text, ticket.choice == choice,
                    Platform.monotonicSeconds - ticket.time < ReplayRoute.ticketSeconds
                else { return false }
                last = nil
                return true
            }
        }
    }

    private func answer(_ request: HTTPRequest, _ tickets: TicketBox) throws(ConsoleProblem) -> HTTPResponse {
        let body = try RequestBody(request, members: ReplayFlags.members)
        let choice = try ReplayFlags(body)
        let ticket = try body.text("ticket", maxBytes: 64)
        if let ticket, !tickets.take(ticket, for: choice) {
            throw ConsoleProblem(
                status: 409, code: "ticket", message: "this replay does not follow a dry run of the same dead letters",
                next: "send the request without `ticket` first, and look at its answer")
        }
        guard let result = program.run(choice, isDryRun: ticket == nil) else {
            throw ConsoleProblem(
                status: 429, code: "busy", message: "another replay is running", next: "wait for its end")
        }
        var json = JSONText()
        json.beginObject()
        json.boolean("dryRun", ticket == nil)
        json.number("code", result.code.map { Int64($0) })
        if let summary = result.summary { json.value("summary", summary) } else { json.text("summary", nil) }
        json.texts("messages", result.messages)
        let isReady = ticket == nil && result.summary != nil && (result.code == 0 || result.code == 1)
        json.text("ticket", isReady ? tickets.keep(choice) : nil)
        json.endObject()
        return .json(json)
    }
}
