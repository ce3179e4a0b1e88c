internal import ByteStorage
internal import StrictJSON

// Binds the values of parents that are the entries of another route.
//
// Each route of the chain binds in its own scope.
// See RouteTableReference, "Parents".
extension Resolver {
    /// Reads the values that the parent routes of the composed stack bind, each into its scope.
    ///
    /// An invalid value removes the parent entries that need it. The entries of the route itself stay.
    package mutating func bindParents() throws(Rejection) {
        for index in 0..<parentRoutes.count {
            let number = parentRoutes[index]
            bind(parent: tableData.routes.at(Int(number)), number: number, scope: UInt8(truncatingIfNeeded: index + 1))
        }
        if record.isBroken { throw Rejection(.internalError) }
    }

    /// Binds the values of a parent route.
    ///
    /// For the second and further devices, the values are bound once, in the memory of the request, and then copied.
    private mutating func bind(parent: Ref<CompiledRoute>, number: Int32, scope: UInt8) {
        guard shared.isKept else { return bindValues(of: parent, scope: scope) }
        for index in 0..<readings.parents.count where readings.parents[index].route == number {
            return replay(readings.parents[index], parent, scope: scope)
        }
        openShared()
        let notesBefore = notes.count
        bindValues(of: parent, scope: scope)
        closeShared()
        readings.parents.append(
            ParentBinding(
                route: number, firstValue: Int32(truncatingIfNeeded: readings.parentValues.count),
                firstNote: Int32(truncatingIfNeeded: readings.parentNotes.count),
                noteCount: Int32(truncatingIfNeeded: notes.count &- notesBefore)))
        for index in 0..<parent.bindings.count {
            let field = Int(parent.bindings.at(index).field)
            readings.parentValues.append(values[values.slot(field, scope: scope)])
        }
        for index in notesBefore..<notes.count { readings.parentNotes.append(notes[index]) }
    }

    /// Copies the values that a parent route bound before into a scope.
    private mutating func replay(_ bound: ParentBinding, _ parent: Ref<CompiledRoute>, scope: UInt8) {
        let stamp = values.stamp(of: scope)
        let known = readings.parentValues.base + Int(bound.firstValue)
        for index in 0..<parent.bindings.count {
            let slot = values.slot(Int(parent.bindings.at(index).field), scope: scope)
            values[slot] = known[index]
            values[slot].stamp = stamp
        }
        for index in 0..<Int(bound.noteCount) { notes.append(readings.parentNotes[Int(bound.firstNote) &+ index]) }
    }

    private mutating func bindValues(of parent: Ref<CompiledRoute>, scope: UInt8) {
        for index in 0..<parent.bindings.count {
            let binding = parent.bindings.at(index)
            if bind(binding, scope: scope) { continue }
            let type = tableData.fields.at(Int(binding.field))
            let slot = values.slot(Int(binding.field), scope: scope)
            values[slot] = BoundValue(stamp: values.stamp(of: scope))
            if parent.drops && type.absence != .required {
                notes.append(Note("dropped:", type.modelName, ".", type.name))
            } else {
                values[slot].state = .invalid
            }
        }
    }
}
