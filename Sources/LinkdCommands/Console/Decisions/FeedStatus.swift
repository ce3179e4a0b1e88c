internal import StrictJSON

/// The state of the reader of decisions and dead letters.
struct FeedStatus: Sendable, Equatable {
    /// A phase of the reader.
    enum Phase: Sendable, Equatable {
        /// No broker has answered so far.
        case connecting
        /// The records since the look-back are read.
        case loading
        /// New records are read as they arrive.
        case live
        /// The broker does not answer, or refuses. What was read before can still be searched.
        case broken(message: String, next: String)
    }

    /// The phase.
    var phase = Phase.connecting
    /// The time since when the reader is in the phase, in milliseconds since 1970.
    var since: Int64 = 0
    /// The offsets that were read since the last start, and those to read until its end.
    var progress: (done: Int64, total: Int64) = (0, 0)
    /// The time from which records are read, in milliseconds since 1970.
    var from: Int64 = 0
    /// A Boolean value that indicates whether there are more records since the look-back than the index can hold.
    var isShortened = false
    /// The number of records read.
    var read: Int64 = 0

    static func == (a: FeedStatus, b: FeedStatus) -> Bool {
        a.phase == b.phase && a.since == b.since && a.progress == b.progress && a.from == b.from
            && a.isShortened == b.isShortened && a.read == b.read
    }

    /// A Boolean value that indicates whether the broker does not answer, or refuses.
    var isBroken: Bool {
        if case .broken = phase { true } else { false }
    }

    /// Changes the phase, and its time if it is another one.
    mutating func enter(_ phase: Phase, now: Int64) {
        guard phase != self.phase else { return }
        self.phase = phase
        since = now
    }

    /// Writes the members of the state's JSON object.
    func write(_ json: inout JSONText) {
        switch phase {
        case .connecting: json.text("phase", "connecting")
        case .loading: json.text("phase", "loading")
        case .live: json.text("phase", "live")
        case .broken(let message, let next):
            json.text("phase", "broken")
            json.text("message", message)
            json.text("next", next)
        }
        json.number("since", since)
        json.number("done", min(progress.done, progress.total))
        json.number("total", progress.total)
        json.number("from", from)
        json.boolean("shortened", isShortened)
        json.number("read", read)
    }
}
