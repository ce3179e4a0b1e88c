internal import ByteStorage
internal import StrictJSON

/// What a coordinator path stands for: a stack, and how it is applied.
public struct ParsedPath: Sendable, Equatable {
    /// The entries, the lowest first; without data, for a path carries none.
    public let stack: [StackEntry]
    /// How the stack is applied to the one that is shown.
    public let mode: LinkRequest.Mode
}

/// Why a text is no coordinator path of the table.
public struct PathError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason, as a decision says it: `unknown_screen`, `bad_encoding`, `dot_segment`, `empty_segment`, `budget`.
    public let reason: String
    /// Where, or which segment.
    public let detail: String

    /// Makes an error.
    public init(reason: String, detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// The error as a sentence.
    public var description: String { "\(reason): \(detail)" }
}

extension RouteTable {
    /// Prints a stack as a canonical coordinator path (route-table.md, 2.6): `/` for an empty one, else the
    /// coordinator where it changes, and each screen.
    ///
    /// Presentation and data are not in a path; ``link(route:models:captures:device:)`` writes a link that carries
    /// them. `parse(print(stack))` gives the same coordinators and screens for every stack that a path can stand for.
    public func print(_ stack: some Sequence<StackEntry>) -> String {
        var path = ""
        var current: String?
        for entry in stack {
            if entry.coordinator != current { path += "/" + entry.coordinator }
            current = entry.coordinator
            path += "/" + entry.screen
        }
        return path.isEmpty ? "/" : path
    }

    /// Reads a coordinator path, absolute or relative, into the stack that it stands for, whatever a device lacks.
    ///
    /// - Parameters:
    ///   - path: Such as `/auth/a/b`, or relative `auth/c`.
    ///   - mode: How it is applied; by default `replace` for an absolute path and `append` for a relative one.
    ///   - coordinator: The coordinator on top of what is shown, in which a relative path may begin.
    /// - Throws: `PathError` where a segment is neither a coordinator nor a screen, or the text is no path.
    public func parse(
        _ path: String, mode: LinkRequest.Mode? = nil, from coordinator: String? = nil
    ) throws(PathError) -> ParsedPath {
        var resolver = Resolver()
        let parsed = DeviceFacts(coordinator: coordinator).withFacts { facts in
            LinkRequest.path(path).withRequest { request in
                withUnsafePointer(to: facts) { facts in
                    withUnsafePointer(to: request) { resolver.entries(of: $0, facts, in: self) }
                }
            }
        }
        let stack = try (parsed ?? .success([])).get()
        return ParsedPath(stack: stack, mode: mode ?? (resolver.appendsPath ? .append : .replace))
    }

    /// Resolves a coordinator path for a device: `resolve(.path(…))` in short.
    public func path(_ path: String, mode: LinkRequest.Mode? = nil, device: DeviceFacts = DeviceFacts()) -> Decision {
        resolve(.path(path, mode: mode), device: device)
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
    /// The entries of a path, without data.
    fileprivate mutating func entries(
        of request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>, in table: RouteTable
    ) -> Result<[StackEntry], PathError> {
        start(request, facts, table: table.compiled.handle)
        do throws(Rejection) {
            try readPath(request.pointee.text)
            try composePath(from: 0, policy: .reject)
            keepSingleSlots()
            if stack.count > Self.maxEntries { throw Rejection(.budget, "stack") }
        } catch {
            return .failure(PathError(reason: error.reason.rawValue, detail: error.detail))
        }
        return .success((0..<stack.count).map { entry(stack[$0], table.source) })
    }

    private mutating func entry(_ entry: EntryImage, _ source: TableSource) -> StackEntry {
        let (coordinator, screen) = names(of: entry)
        let owner = source.coordinators.first { $0.name.value == coordinator.string }
        let own = owner?.screen(named: screen.string)
        return StackEntry(
            coordinator: coordinator.string, screen: screen.string, view: own?.view?.value, present: entry.present,
            nav: own?.nav ?? false)
    }
}
