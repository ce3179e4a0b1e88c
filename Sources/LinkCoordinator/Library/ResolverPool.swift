internal import ByteStorage
internal import StrictJSON

/// The scratch memory of a call that resolves a request.
final class ResolverSpace: @unchecked Sendable {
    // `@unchecked Sendable` is safe because only the call that has taken the space from the pool uses it.
    var resolver = Resolver()
    /// The bytes of the decision.
    var output = OutputArena(chunkBytes: 4096)
    /// The facts about the device.
    var facts = OutputArena(chunkBytes: 4096)
    /// The reader of the decision.
    var cursor = JSONCursor(maxDepth: 512)

    /// The length of the longest request, and of the longest decision, after which the space is used again.
    ///
    /// Longer ones may have enlarged its memory.
    static let maxBytes = 16 << 10

    /// Removes the data of the call.
    func reset() {
        resolver.forgetRecord()
        output.reset()
        facts.reset()
        cursor.open(.empty)
    }
}

/// The scratch memory that calls from any thread use in turns.
///
/// A space can be used with any number of tables. The pool keeps a few spaces. More callers at the same time create
/// their own, which are freed afterwards.
final class ResolverPool: Sendable {
    /// The pool of all tables.
    static let shared = ResolverPool()

    /// The number of spaces that are kept.
    static let maxIdle = 4

    private struct State: Sendable {
        var idle: [ResolverSpace] = []
        var created = 0
    }

    private let state = Lock(State())

    /// The number of spaces that are kept for the next calls.
    var idle: Int { state.withLock { $0.idle.count } }

    /// The number of spaces that were created so far.
    var created: Int { state.withLock { $0.created } }

    /// Calls a closure with a space that no other call uses.
    ///
    /// - Parameters:
    ///   - requestBytes: The length of the request.
    ///   - body: The closure, which returns its result and the length of the decision.
    func withSpace<Result>(_ requestBytes: Int, _ body: (ResolverSpace) -> (Result, bytes: Int)) -> Result {
        let space = take()
        let (result, bytes) = body(space)
        if max(requestBytes, bytes) <= ResolverSpace.maxBytes {
            space.reset()
            put(space)
        }
        return result
    }

    private func take() -> ResolverSpace {
        let kept = state.withLock { state -> ResolverSpace? in
            if state.idle.isEmpty { state.created += 1 }
            return state.idle.popLast()
        }
        return kept ?? ResolverSpace()
    }

    private func put(_ space: ResolverSpace) {
        state.withLock { state in
            if state.idle.count < Self.maxIdle { state.idle.append(space) }
        }
    }
}

extension CompiledTable {
    /// Returns the JSON of the decision for a request.
    package func resolve(_ request: LinkRequest, _ device: DeviceFacts) -> [UInt8] {
        ResolverPool.shared.withSpace(request.byteCount) { space in
            let json = space.resolve(request, device, self).array
            return (json, json.count)
        }
    }

    /// Returns the decision for a request.
    func decide(_ request: LinkRequest, _ device: DeviceFacts) -> Decision {
        ResolverPool.shared.withSpace(request.byteCount) { space in
            let decision = Decision(space.resolve(request, device, self), reading: &space.cursor)
            return (decision, decision.json.count)
        }
    }
}

extension ResolverSpace {
    /// Returns the JSON of the decision for a request, which is valid until the space is used again.
    fileprivate func resolve(_ request: LinkRequest, _ device: DeviceFacts, _ table: CompiledTable) -> ByteView {
        output.begin()
        device.withFacts(in: &facts) { facts in
            request.withRequest { request in
                _ = resolver.resolve(request, facts, table: table.handle, head: nil, into: &output)
            }
        }
        withExtendedLifetime(table) {}
        return output.finish()
    }
}

extension LinkRequest {
    /// The length of the request's texts in bytes.
    fileprivate var byteCount: Int {
        switch self {
        case .link(let text), .path(let text, _): text.utf8.count
        case .route(let id, let params): id.utf8.count + params.json.utf8.count
        case .payload(let object): object.json.utf8.count
        }
    }
}
