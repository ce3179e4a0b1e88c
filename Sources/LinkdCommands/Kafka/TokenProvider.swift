internal import DispatchWorker
internal import KafkaClient
internal import RouteTools
internal import StrictJSON
internal import Synchronization
internal import SystemThreads

/// The origin of a token: a file or a command.
struct TokenProvider: Sendable {
    /// The origin of a token.
    enum Origin: Sendable, Equatable {
        case file(String)
        case command([String])
    }

    /// The size limit of a token, in bytes.
    static let limit = 65_536
    /// The time limit of the command, in milliseconds.
    private static let commandMilliseconds = 10_000
    /// The time after which a token without an expiry is read again, in milliseconds.
    private static let opaqueMilliseconds: Int64 = 60_000

    let origin: Origin

    /// Creates a provider.
    init(origin: Origin) { self.origin = origin }

    /// Creates the provider of the settings, or nil if they have none.
    init?(_ settings: Settings) {
        if let path = settings.text("sasl.token.file") {
            self.init(origin: .file(path))
        } else if let command = settings.text("sasl.token.command") {
            self.init(origin: .command(command.split(separator: " ").map(String.init)))
        } else {
            return nil
        }
    }

    /// Returns a source for clients, and renews its token on a thread until the process ends.
    ///
    /// A file is also read when it changes.
    func source(
        report: @escaping @Sendable (Result<ClientToken, TokenFailure>) -> Void = { _ in }
    ) -> TokenSource {
        let source = TokenSource(
            now: { Platform.nowMilliseconds }, elapsed: { Int64(Platform.monotonicSeconds * 1_000) },
            fetch: { () throws(TokenFailure) in try fetch() }, report: report)
        SystemThread.start("tokens") { [origin] in
            var last: FileStamp?
            while true {
                var stamp: FileStamp?
                if case .file(let path) = origin { stamp = FileStamp(of: path) }
                if source.isUsed { source.renew(isChanged: last != nil && stamp != nil && stamp != last) }
                last = stamp ?? last
                Platform.sleep(milliseconds: 1_000)
            }
        }
        return source
    }

    /// Returns the line of a worker's log for a new token or a failure.
    static func entry(_ result: Result<ClientToken, TokenFailure>) -> LogEntry {
        switch result {
        case .success(let token):
            let left = max(0, token.expiresAt - Platform.nowMilliseconds)
            return LogEntry(.info, "token.renewed", "a new token is used", ["expires_ms": .number(left)])
        case .failure(let failure):
            return LogEntry(
                .warning, "token.failed", failure.text,
                ["advice": .text(ConnectionCause.noToken("").advice)])
        }
    }

    /// Reads the token.
    func fetch() throws(TokenFailure) -> ClientToken {
        switch origin {
        case .file(let path):
            let name = "the token file " + Escaping.visible(path)
            switch Platform.contents(of: path, limit: Self.limit) {
            case .success(let bytes): return try Self.token(bytes, now: Platform.nowMilliseconds, from: name)
            case .failure(let error): throw TokenFailure("\(name) cannot be read: \(error.text)")
            }
        case .command(let words):
            let name = "the token command " + Escaping.visible(words.first ?? "")
            let bytes: [UInt8]
            do throws(ProgramFailure) {
                bytes = try ProgramOutput.of(words, limit: Self.limit, milliseconds: Self.commandMilliseconds)
            } catch {
                throw TokenFailure("\(name) \(error.text)")
            }
            return try Self.token(bytes, now: Platform.nowMilliseconds, from: name)
        }
    }

    /// Returns the token in a text, without the white space around it.
    ///
    /// A JSON Web Token contains its expiry, and is renewed after 80 % of its time. Its signature is not checked, which
    /// brokers do. Other tokens are read again after a minute.
    static func token(_ bytes: [UInt8], now: Int64, from name: String) throws(TokenFailure) -> ClientToken {
        let trimmed = bytes.trimmed
        guard !trimmed.isEmpty else { throw TokenFailure("\(name) contains no token") }
        guard trimmed.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw TokenFailure("\(name) contains characters that no token has")
        }
        let value = String(decoding: trimmed, as: UTF8.self)
        guard let claims = claims(value), let expiry = expiry(claims) else {
            return ClientToken(
                value: value, principal: "linkd", expiresAt: now + 60 * opaqueMilliseconds,
                renewAfter: opaqueMilliseconds)
        }
        guard expiry > now else { throw TokenFailure("\(name) contains a token that has expired") }
        return ClientToken(
            value: value, principal: claims["sub"]?.string ?? "linkd", expiresAt: expiry,
            renewAfter: (expiry - now) / 5 * 4)
    }

    /// Returns the claims of a JSON Web Token, or nil if the text is none.
    private static func claims(_ token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Platform.bytes(ofBase64URL: parts[1]) else { return nil }
        guard let value = try? JSONValue.parse(payload), value.object != nil else { return nil }
        return value
    }

    /// Returns the expiry in milliseconds since 1970, or nil if the claims have none.
    ///
    /// It is a number of seconds, possibly with a fraction.
    private static func expiry(_ claims: JSONValue) -> Int64? {
        guard case .number(let text)? = claims["exp"]?.kind, let seconds = Double(text), (0..<1e12).contains(seconds)
        else { return nil }
        return Int64(seconds * 1_000)
    }
}

/// The reason why a program has no output, as the end of a sentence that begins with its name.
struct ProgramFailure: Error, Equatable {
    /// A description of the failure, such as `cannot be started`.
    var text: String
}

/// The standard output of a program that runs without a shell.
enum ProgramOutput {
    /// Runs a program and returns its standard output.
    ///
    /// Its standard input and error are `/dev/null`. It has a process group of its own, which is killed if the program
    /// has not ended in time, or prints more than `limit` bytes.
    static func of(_ words: [String], limit: Int, milliseconds: Int) throws(ProgramFailure) -> [UInt8] {
        if words.isEmpty { throw ProgramFailure(text: "is empty") }
        guard let pipe = ChildProgram.makePipe() else {
            throw ProgramFailure(text: "has no pipe: \(SystemError.last.text)")
        }
        defer { Platform.close(pipe.read) }
        let started = ChildProgram.start(words, environment: Platform.environment, output: pipe.write)
        Platform.close(pipe.write)
        let program: ChildProgram
        switch started {
        case .success(let child): program = child
        case .failure(let error): throw ProgramFailure(text: "cannot be started: \(error.text)")
        }
        StopSignals.setDependent(program.pid)
        defer { StopSignals.setDependent(0) }
        let deadline = Platform.monotonicSeconds + Double(milliseconds) / 1_000
        do throws(ProgramFailure) {
            let bytes = try read(pipe.read, limit: limit, until: deadline)
            switch program.wait(until: deadline) {
            case .exit(code: 0): return bytes
            case .exit(let code): throw ProgramFailure(text: "failed with exit code \(code)")
            case .signal(let signal): throw ProgramFailure(text: "failed with signal \(signal)")
            case .unknown(let error): throw ProgramFailure(text: "has no known end: \(error.text)")
            case nil: throw timeout
            }
        } catch {
            program.end()
            throw error
        }
    }

    private static let timeout = ProgramFailure(text: "took too long")

    /// The time that a program has after a stop signal, in seconds: a token is renewed long before it expires, and a
    /// process without one has nothing to end in order.
    private static let secondsAfterStop = 3.0

    /// Reads to the end.
    private static func read(
        _ descriptor: Int32, limit: Int, until deadline: Double
    ) throws(ProgramFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var stop: Double?
        while true {
            let now = Platform.monotonicSeconds
            if StopSignals.number != nil { stop = stop ?? now + secondsAfterStop }
            let left = (min(deadline, stop ?? deadline) - now) * 1_000
            guard left > 0 else { throw timeout }
            guard Platform.canRead(descriptor, milliseconds: Int32(min(left, 200)) + 1) else { continue }
            let count = buffer.withUnsafeMutableBytes { Platform.read(descriptor, into: $0) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            if bytes.count > limit { throw ProgramFailure(text: "printed more than \(limit) bytes") }
        }
    }
}
