internal import HTTPServer

/// The endpoints and files of a console.
struct ConsoleRouter: Sendable {
    /// A function that answers a request, or throws the reason why it cannot.
    typealias Handler = @Sendable (HTTPRequest) throws(ConsoleProblem) -> HTTPResponse

    private var router = HTTPRouter()
    private let check: ConsoleGuard

    /// Creates a router without endpoints, which serves the files of the page.
    init(_ check: ConsoleGuard, _ files: ConsoleFiles) {
        self.check = check
        for file in files.all {
            for path in file.paths {
                router.on(.get, path) { _ in HTTPResponse(contentType: file.contentType, body: .bytes(file.bytes)) }
            }
        }
    }

    /// Adds an endpoint that only reads.
    mutating func get(_ path: String, _ handler: @escaping Handler) {
        router.on(.get, path) { Self.respond($0, handler) }
    }

    /// Adds an endpoint that takes a body of JSON.
    mutating func post(_ path: String, _ handler: @escaping Handler) {
        router.on(.post, path) { Self.respond($0, handler) }
    }

    private static func respond(_ request: HTTPRequest, _ handler: Handler) -> HTTPResponse {
        do throws(ConsoleProblem) {
            return try handler(request)
        } catch {
            return error.response
        }
    }

    /// Returns the answer to a request that needs no body: the refusal of the check, or a file of the page.
    ///
    /// So bodies of refused requests take no memory, and files wait for no endpoint.
    func answerEarly(_ request: HTTPRequest) -> HTTPResponse? {
        switch check.check(request) {
        case .answer(let response): response.hardened()
        case .pass: request.path.hasPrefix("/api/") ? nil : router.respond(to: request).hardened()
        }
    }

    /// Returns the answer to a request.
    func respond(to request: HTTPRequest) -> HTTPResponse {
        switch check.check(request) {
        case .answer(let response): response.hardened()
        case .pass: router.respond(to: request).hardened()
        }
    }
}
