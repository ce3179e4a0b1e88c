/// A command that the driver refused, or a condition that did not become true.
struct DriverFailure: Error, CustomStringConvertible {
    /// The error code of the WebDriver protocol, such as `stale element reference`, or an empty text.
    let code: String
    let description: String

    init(_ description: String, code: String = "") {
        self.code = code
        self.description = description
    }
}

/// Evaluates a function until it returns a value, and returns the value.
///
/// - Throws: `DriverFailure` with `what` if the time is over, and what the function throws. Elements that are not there
///   or no longer there are not errors before the time is over.
func eventually<Value>(
    _ what: @autoclosure () -> String, seconds: Double = 60, _ body: () throws -> Value?
) throws -> Value {
    let end = ContinuousClock.now + .seconds(seconds)
    let transient: Set = [
        "no such element", "stale element reference", "element not interactable", "element click intercepted",
    ]
    var last = ""
    while true {
        do {
            if let value = try body() { return value }
        } catch let failure as DriverFailure where transient.contains(failure.code) {
            last = ": \(failure.code)"
        }
        if ContinuousClock.now > end { throw DriverFailure("not within \(seconds) s: \(what())\(last)") }
        pause(milliseconds: 10)
    }
}
