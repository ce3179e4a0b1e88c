// Binds values that are read once for a request.
extension Resolver {
    /// Binds a value that several bindings of the route read in the same way.
    @inline(never)
    mutating func bindAgain(_ binding: Ref<CompiledBinding>, scope: UInt8) -> Bool {
        let target = values.slot(Int(binding.field), scope: scope)
        let place = readings.place(binding.reading, nil)
        if readings.all[place].stamp != readings.stamp {
            let notesBefore = notes.count
            let isValid = bindSingle(binding, scope: scope)
            var reading = Reading(stamp: readings.stamp, isValid: isValid, value: values[target])
            if notes.count > notesBefore { reading.repair = readings.lastRepair.rawValue &+ 1 }
            readings.all[place] = reading
            return isValid
        }
        let reading = readings.all[place]
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
        let place = binding.reading < 0 ? -1 : readings.place(binding.reading, repair)
        if place >= 0 && readings.all[place].stamp == readings.stamp { return readings.all[place] }
        values.listStart = values.items.count
        let isValid = addItems(binding, field)
        if !isValid { values.items.truncate(to: values.listStart) }
        let reading = Reading(
            stamp: readings.stamp, isValid: isValid, first: Int32(truncatingIfNeeded: values.listStart),
            count: Int32(truncatingIfNeeded: values.items.count &- values.listStart))
        if place >= 0 { readings.all[place] = reading }
        return reading
    }
}
