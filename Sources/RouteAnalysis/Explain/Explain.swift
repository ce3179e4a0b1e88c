public import LinkCoordinator

extension RouteTable {
    /// Resolves a request and explains the decision with the results of each phase.
    public func explain(_ request: LinkRequest, device: DeviceFacts = DeviceFacts()) -> Explanation {
        var explanation = Explanation(decision: resolve(request, device: device))
        device.withFacts { facts in
            request.withRequest { request in
                withUnsafePointer(to: facts) { facts in
                    withUnsafePointer(to: request) { request in
                        var tracer = Tracer(self, request, facts)
                        tracer.explain(into: &explanation)
                    }
                }
            }
        }
        return explanation
    }

    /// Explains a request with facts that are borrowed from a record's reader.
    package func explain(
        _ request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>
    ) -> Explanation {
        Tracer.explained(request, facts, by: self)
    }
}
