internal import HTTPServer
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
