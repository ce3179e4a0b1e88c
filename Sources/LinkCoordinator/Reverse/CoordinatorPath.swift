internal import ByteStorage

/// An error that occurs when a text is not a coordinator path of the table.
public struct PathError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason: `unknown_screen`, `bad_encoding`, `dot_segment`, `empty_segment`, or `budget`.
    public let reason: Decision.Reason
    /// The position of the error, or the segment that caused it.
    public let detail: String

    /// Creates an error.
    public init(reason: Decision.Reason, detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// The reason and the detail.
    public var description: String { "\(reason): \(detail)" }
}

extension RouteTable {
    /// Returns the canonical coordinator path of a stack, or `/` for an empty stack.
    ///
    /// A path has neither presentation nor data. ``link(route:models:captures:scheme:host:device:)`` writes a link that
    /// carries them. `stack(atPath: path(for: stack))` has the same coordinators and screens for every stack that a
    /// path can express.
    public func path(for stack: some Sequence<StackEntry>) -> String {
        var path = ""
        var current: String?
        for entry in stack {
            if entry.coordinator != current { path += "/" + entry.coordinator }
            current = entry.coordinator
            path += "/" + entry.screen
        }
        return path.isEmpty ? "/" : path
    }

    /// Returns the stack of a coordinator path, without regard to the screens that a device supports.
    ///
    /// The entries have no data.
    ///
    /// - Parameters:
    ///   - path: An absolute path such as `/auth/a/b`, or a relative one such as `auth/c`.
    ///   - coordinator: The coordinator on top of the shown stack, in which a relative path may begin.
    /// - Throws: A ``PathError`` if a segment is neither a coordinator nor a screen, or the text is not a path.
    public func stack(atPath path: String, from coordinator: String? = nil) throws(PathError) -> [StackEntry] {
        var resolver = Resolver()
        let parsed = DeviceFacts(coordinator: coordinator).withFacts { facts in
            LinkRequest.path(path).withRequest { resolver.entries(of: $0, facts, in: self) }
        }
        return try parsed.get()
    }
}

extension Rejection {
    /// The detail as text.
    package var detail: String {
        let text = head.string + (number >= 0 ? "\(number)" : "")
        return tail.isEmpty ? text : text + "." + tail.string
    }
}

extension Resolver {
    /// Returns the entries of a path, without data.
    fileprivate mutating func entries(
        of request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>, in table: RouteTable
    ) -> Result<[StackEntry], PathError> {
        start(request, facts, table: table.compiled.handle)
        do throws(Rejection) {
            _ = try readPath(request.pointee.text)
            _ = try composePlain()
            if stack.count > StaticStack.maxEntries { throw Rejection(.budget, "stack") }
        } catch {
            return .failure(PathError(reason: Decision.Reason(error.reason), detail: error.detail))
        }
        return .success((0..<stack.count).map { entry(stack[$0], table.source) })
    }

    private mutating func entry(_ entry: CompiledEntry, _ source: TableSource) -> StackEntry {
        let (coordinator, screen) = names(of: entry)
        let owner = source.coordinators.first { $0.name.value == coordinator.string }
        let own = owner?.screen(named: screen.string)
        return StackEntry(
            coordinator: coordinator.string, screen: screen.string, view: own?.view?.value, present: entry.present,
            nav: own?.nav ?? false)
    }
}
