internal import StrictJSON

// Values of parents that are the entries of another route (2.6): each route of the chain binds in a scope of its own.
extension Resolver {
    /// Reads the values that the parent routes of the composed stack bind, each into its scope.
    ///
    /// What is invalid there costs the entries that need it their place, never the leaf.
    mutating func bindParents() throws(Rejection) {
        for index in 0..<parentRoutes.count {
            let parent = image.routes.at(Int(parentRoutes[index]))
            bind(parent: parent, scope: UInt8(truncatingIfNeeded: index + 1))
        }
        if isBroken { throw Rejection(.internalError) }
    }

    private mutating func bind(parent: Ref<RouteImage>, scope: UInt8) {
        for index in 0..<parent.bindings.count {
            let binding = parent.bindings.at(index)
            if bind(binding, scope: scope) { continue }
            let type = image.fields.at(Int(binding.field))
            let place = slot(Int(binding.field), scope: scope)
            values[place] = BoundValue(stamp: stamp(of: scope))
            if parent.drops && type.absence != .required {
                notes.append(Note("dropped:", type.modelName, ".", type.name))
            } else {
                invalidSlots.append(Int32(truncatingIfNeeded: place))
            }
        }
    }
}
