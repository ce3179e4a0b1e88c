import ByteStorage
package import LinkCoordinator

/// Resolves as the worker does, with one resolver and one arena for all requests.
package struct ReusedResolver: ~Copyable {
    private var resolver = Resolver()
    private var arena = OutputArena(chunkBytes: 32 << 10)

    /// Creates a resolver that has not resolved any request.
    package init() {}

    /// Returns the JSON of the decision for a link.
    package mutating func decide(_ link: [UInt8], _ facts: DeviceView, _ table: CompiledTable) -> [UInt8] {
        link.withUnsafeBufferPointer { bytes in
            decide(RequestView(form: .link, text: ByteView(bytes)), facts, table)
        }
    }

    /// Returns the JSON of the decision for any request.
    package mutating func decide(_ request: RequestView, _ facts: DeviceView, _ table: CompiledTable) -> [UInt8] {
        arena.reset()
        arena.begin()
        withUnsafePointer(to: request) { request in
            withUnsafePointer(to: facts) { facts in
                _ = resolver.resolve(request, facts, table: table.handle, head: nil, into: &arena)
            }
        }
        withExtendedLifetime(table) {}
        return arena.finish().array
    }
}
