internal import ByteStorage

extension CompiledTable {
    /// Returns the JSON of the decision for a request.
    package func resolve(_ request: LinkRequest, _ device: DeviceFacts) -> [UInt8] {
        var resolver = Resolver()
        var arena = OutputArena(chunkBytes: 4096)
        arena.begin()
        device.withFacts { facts in
            request.withRequest { request in
                withUnsafePointer(to: facts) { facts in
                    withUnsafePointer(to: request) { request in
                        _ = resolver.resolve(request, facts, table: handle, head: nil, into: &arena)
                    }
                }
            }
        }
        withExtendedLifetime(self) {}
        return arena.finish().array
    }
}
