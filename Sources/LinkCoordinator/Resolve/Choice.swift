/// The result of phase 3: the part of the selected route that applies to a device.
enum Choice: BitwiseCopyable {
    /// The first variant of a route whose condition holds.
    case variant(Ref<CompiledVariant>, of: Ref<CompiledRoute>)
    /// The action of a route that excludes links from navigation.
    case exclusion(CompiledRoute.Action)
    /// A requested coordinator path, which has no route.
    case coordinatorPath
    /// A payload with neither a link nor a route.
    case nothing
}
