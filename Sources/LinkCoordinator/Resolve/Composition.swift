/// The result of phase 4: the target for a device.
///
/// The entries of its stack are those of the resolver, unless `usesProgram` is `true`.
package struct Composition: BitwiseCopyable {
    /// The target of the variant, or of the route's rule for unsupported screens.
    package var target: Ref<CompiledTarget>
    /// The mode in which the stack is applied.
    var mode: RequestView.Mode
    /// A Boolean value that indicates whether the stack is that of the target's program.
    var isStatic: Bool
    /// A Boolean value that indicates whether the target's program is used without composing a stack.
    var usesProgram = false

    /// Creates the composition of a target whose stack does not depend on the device.
    @inline(__always)
    init(_ target: Ref<CompiledTarget>) {
        self.target = target
        mode = target.mode == .unspecified ? .replace : target.mode
        isStatic = target.isStatic
    }
}
