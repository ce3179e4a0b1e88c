internal import HTTPServer
internal import RouteTools
internal import StrictJSON

/// The JSON object in the body of a request.
struct RequestBody {
    /// The object.
    let value: JSONValue

    /// Reads the body of a request.
    ///
    /// A body that is not an object, and a member that the endpoint does not have, are errors.
    init(_ request: HTTPRequest, members: [String]) throws(ConsoleProblem) {
        let list = members.map { "`\($0)`" }.joined(separator: ", ")
        do throws(JSONError) {
            value = try JSONValue.parse(request.body, maxDepth: 512)
        } catch {
            throw ConsoleProblem(
                code: "json", message: "the body is not valid JSON at byte \(error.offset): \(error.text)",
                next: "send an object with the members \(list)")
        }
        guard let object = value.object else {
            throw ConsoleProblem(
                code: "json", message: "the body is not an object", next: "send an object with the members \(list)")
        }
        if let other = object.first(where: { !members.contains($0.name) }) {
            throw ConsoleProblem(
                code: "member", message: "`\(other.name.prefix(64))` is not a member of this request",
                next: "send the members \(list)")
        }
    }

    /// Returns the text of a member, or nil if it is absent or null.
    func text(_ name: String, maxBytes: Int) throws(ConsoleProblem) -> String? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let text = member.string, text.utf8.count <= maxBytes else {
            throw ConsoleProblem(
                code: "member", message: "`\(name)` is not a text of at most \(maxBytes) bytes",
                next: "send a shorter text")
        }
        return text
    }
}

/// The parameters of a request that only reads.
struct RequestQuery {
    private var values: [String: [String]] = [:]
    /// The time to which durations are relative, in milliseconds since 1970.
    let now: Int64

    /// Reads the parameters.
    ///
    /// A parameter that the endpoint does not have, and one that is given twice, are errors.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - names: The names of the parameters.
    ///   - repeated: The names of the parameters that can be given several times.
    ///   - now: The time of the request, in milliseconds since 1970.
    init(
        _ request: HTTPRequest, names: [String], repeated: [String] = [], now: Int64 = Platform.nowMilliseconds
    ) throws(ConsoleProblem) {
        self.now = now
        let names = names + repeated
        let list = names.isEmpty ? "none" : names.map { "`\($0)`" }.joined(separator: ", ")
        for item in request.query {
            let shown = Escaping.visible(String(item.name.prefix(64)))
            guard names.contains(item.name) else {
                throw ConsoleProblem(
                    code: "parameter", message: "`\(shown)` is not a parameter of \(request.path)",
                    next: "pass the parameters \(list)")
            }
            guard values[item.name] == nil || repeated.contains(item.name) else {
                throw ConsoleProblem(
                    code: "parameter", message: "the parameter `\(shown)` is given twice", next: "pass it once")
            }
            values[item.name, default: []].append(item.value)
        }
    }

    /// Returns a text, or nil if it is absent.
    func text(_ name: String, maxBytes: Int) throws(ConsoleProblem) -> String? {
        guard let value = values[name]?.first else { return nil }
        guard value.utf8.count <= maxBytes else {
            throw Self.problem(name, "is longer than \(maxBytes) bytes", "pass a shorter text")
        }
        return value
    }

    /// Returns the texts of a parameter that can be given several times.
    func texts(_ name: String, maxBytes: Int, count: Int) throws(ConsoleProblem) -> [String] {
        let texts = values[name] ?? []
        guard texts.count <= count else {
            throw Self.problem(name, "is given more than \(count) times", "pass fewer values")
        }
        guard texts.allSatisfy({ $0.utf8.count <= maxBytes }) else {
            throw Self.problem(name, "is longer than \(maxBytes) bytes", "pass a shorter text")
        }
        return texts
    }

    /// Returns an integer of a range, or nil if it is absent.
    func number<Number: FixedWidthInteger>(
        _ name: String, _ range: ClosedRange<Number>, unit: String
    ) throws(ConsoleProblem) -> Number? {
        guard let value = values[name]?.first else { return nil }
        guard let number = Number(value), range.contains(number) else {
            throw Self.problem(
                name, "is not a number of \(unit)", "pass a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns one of several words, or nil if it is absent.
    func choice(_ name: String, _ words: [String]) throws(ConsoleProblem) -> String? {
        guard let value = values[name]?.first else { return nil }
        guard words.contains(value) else {
            let list = words.map { "`\($0)`" }.joined(separator: ", ")
            throw Self.problem(name, "is none of its values", "pass one of \(list)")
        }
        return value
    }

    /// Returns a time in milliseconds since 1970, or nil if it is absent.
    func time(_ name: String) throws(ConsoleProblem) -> Int64? {
        guard let value = values[name]?.first else { return nil }
        if value.utf8.count <= 14, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let time = Int64(value) {
            return time
        }
        guard value.utf8.count <= 40, let time = Timestamps.parse(value, now: now) else {
            throw Self.problem(
                name, "is not a time",
                "pass milliseconds since 1970, a time such as 2026-11-20T10:00:00Z, or a duration before now such as 1h"
            )
        }
        return time
    }

    /// Returns the problem of a parameter.
    static func problem(_ name: String, _ message: String, _ next: String) -> ConsoleProblem {
        ConsoleProblem(code: "parameter", message: "the parameter `\(name)` \(message)", next: next)
    }
}
