internal import HTTPServer
internal import StrictJSON

extension HTTPResponse {
    /// Creates a response with a JSON text.
    static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: .bytes(Array(text.utf8)))
    }

    /// Creates a response for a request that cannot be answered, in the form `{"error":{"code","message","next"}}`.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - code: The stable code of the error.
    ///   - message: The reason, without a period.
    ///   - next: The next step of the person who reads it.
    static func problem(_ status: Int, _ code: String, _ message: String, next: String) -> HTTPResponse {
        let text = JSONText.object { json in
            json.beginObject("error")
            json.text("code", code)
            json.text("message", message)
            json.text("next", next)
            json.endObject()
        }
        return .json(text, status: status)
    }

    /// Returns the response with the headers that restrict what a browser does with it.
    ///
    /// The policy allows only the console's own files, and no text as markup (Content Security Policy Level 3, Trusted
    /// Types).
    func hardened() -> HTTPResponse {
        var response = self
        response.headers.add(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'; trusted-types 'none'")
        response.headers.add("Referrer-Policy", "no-referrer")
        response.headers.add("Cross-Origin-Opener-Policy", "same-origin")
        response.headers.add("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.add("X-Frame-Options", "DENY")
        return response
    }
}

/// A request that cannot be answered, for functions that read its parameters.
struct ConsoleProblem: Error {
    /// The status code.
    var status = 400
    /// The stable code.
    var code: String
    /// The reason, without a period.
    var message: String
    /// The next step.
    var next: String

    /// The response.
    var response: HTTPResponse { .problem(status, code, message, next: next) }
}
