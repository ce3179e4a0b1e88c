/// The result of phase 2: the route for a request, and the pattern and path whose captures its bindings read.
package struct Selection: BitwiseCopyable {
    /// The route, or nil for a coordinator path and for a payload without a link.
    package var route: Ref<CompiledRoute>?
    /// The pattern that matches the path, or nil for a route without patterns that was requested by its id.
    package var pattern: Ref<CompiledPattern>?
    /// The path of the link, or the path to which the last redirect leads.
    package var path = LinkPath()
}

extension Ref<CompiledTableData> {
    /// Returns the index of a route in the table.
    package func number(of route: Ref<CompiledRoute>) -> Int {
        route.pointer - self.routes.baseAddress.unsafelyUnwrapped
    }

    /// Returns the number of a pattern in the table.
    package func number(of pattern: Ref<CompiledPattern>) -> Int { pattern.pointer - self.patterns }
}
