internal import StrictJSON

// Parents that are the entries of another route (2.6): each chain of them binds in scopes of its own.
extension Resolver {
    /// Appends the entries of a target's parent route, by its variant for this device, its own parents first.
    mutating func appendParentRoute(_ target: Ref<TargetImage>, scope: UInt8) {
        let number = target.parentRoute
        let parent = image.routes.at(Int(number))
        let chosen = chooseVariant(of: parent)
        guard chosen < parent.variants.count, Int(scope) + 1 < image.scopes else { return }
        let inner = parent.variants.at(chosen).ref(\.target)
        if inner.entries.isEmpty { return }
        parentRoutes.append(number)
        appendTarget(inner, scope: scope + 1)
    }

    /// Reads the values that the parent routes of the composed stack bind, each into its scope.
    ///
    /// What is invalid there costs the entries that need it their place, never the leaf.
    mutating func bindParents() {
        for index in 0..<parentRoutes.count {
            let parent = image.routes.at(Int(parentRoutes[index]))
            bind(parent: parent, scope: UInt8(truncatingIfNeeded: index + 1))
        }
    }

    private mutating func bind(parent: Ref<RouteImage>, scope: UInt8) {
        for index in 0..<parent.bindings.count {
            let binding = parent.bindings.at(index)
            if bind(binding, scope: scope) { continue }
            let type = image.fields.at(Int(binding.field))
            let place = slot(Int(binding.field), scope: scope)
            values[place] = BoundValue(stamp: stamp)
            if parent.drops && type.absence != .required {
                notes.append(Note("dropped:", type.modelName, ".", type.name))
            } else {
                invalidSlots.append(Int32(truncatingIfNeeded: place))
            }
        }
    }

    /// Whether the value that a parent route binds to a field is there but not of its type.
    mutating func isInvalid(_ field: Int, scope: UInt8) -> Bool {
        let place = slot(field, scope: scope)
        for index in 0..<invalidSlots.count where Int(invalidSlots[index]) == place { return true }
        return false
    }
}
