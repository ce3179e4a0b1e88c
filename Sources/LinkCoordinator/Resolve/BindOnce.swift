internal import ByteStorage

// Binds values that are read once for a request.
extension Resolver {
    /// Binds a value that several bindings of the route read in the same way.
    @inline(never)
    mutating func bindAgain(_ binding: Ref<CompiledBinding>, scope: UInt8) -> Bool {
        let target = values.slot(Int(binding.field), scope: scope)
        let index = readings.index(of: binding.reading, repair: nil)
        if readings.all[index].stamp != readings.stamp {
            let notesBefore = notes.count
            let isValid = bindSingle(binding, scope: scope)
            var reading = Reading(stamp: readings.stamp, isValid: isValid, value: values[target])
            if notes.count > notesBefore { reading.repair = readings.lastRepair.rawValue &+ 1 }
            readings.all[index] = reading
            return isValid
        }
        let reading = readings.all[index]
        values[target] = reading.value
        values[target].stamp = values.stamp(of: scope)
        if reading.repair > 0, let repair = Repair(rawValue: reading.repair &- 1) { note(repair, binding) }
        return reading.isValid
    }

    /// Reads all items at the source of a binding, each once.
    ///
    /// If the list is too long or an item has the wrong type, the result has no items.
    mutating func readList(
        _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ repair: Repair? = nil
    ) -> Reading {
        // A constant is read in place.
        let index = binding.reading < 0 ? -1 : readings.index(of: binding.reading, repair: repair)
        if index >= 0 && readings.all[index].stamp == readings.stamp { return readings.all[index] }
        values.listStart = values.items.count
        let isValid = addItems(binding, field)
        if !isValid { values.items.truncate(to: values.listStart) }
        let reading = Reading(
            stamp: readings.stamp, isValid: isValid, first: Int32(truncatingIfNeeded: values.listStart),
            count: Int32(truncatingIfNeeded: values.items.count &- values.listStart))
        if index >= 0 { readings.all[index] = reading }
        return reading
    }
}
