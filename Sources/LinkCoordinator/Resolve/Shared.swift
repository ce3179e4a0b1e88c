package import ByteStorage

// Resolves a request for further devices.
extension Resolver {
    /// Resolves the most recent request, which must not have changed, for another device.
    ///
    /// The request is not read, selected, or bound again. The decision equals that of `resolve`, byte for byte. Parents
    /// that are the entries of other routes depend on the device and are bound for each device.
    package mutating func resolveNext(
        _ device: UnsafePointer<DeviceView>, head: UnsafePointer<DecisionHead>?, into out: inout OutputArena
    ) -> DecisionSummary {
        if values.needsRestart {
            // Resetting the stamps also removes the bound values.
            return resolve(request.pointer, device, table: table, head: head, keepsReadings: true, into: &out)
        }
        if !shared.isKept { keepShared() }
        values.startDevice(keepingItems: shared.items)
        self.device.open(device)
        self.head = head.map { Ref($0) }
        texts.reset()
        notes.truncate(to: shared.notes)
        variant = nil
        stack.removeAll()
        parentRoutes.removeAll()
        if let failure = shared.failure { return fallBack(failure, &out) }
        return decide(selection, &out)
    }

    /// Completes the parts that do not depend on the device and stores their texts in memory that persists.
    @inline(never)
    private mutating func keepShared() {
        shared.isKept = true
        record.hasData = true
        notes.truncate(to: shared.notes)
        values.items.removeAll()
        readings.forget(stamp: values.nextStamp())
        // Results that would be made on first use by a device are made now, in the memory of the request.
        query.split(&texts)
        query.decodeAll(&texts)
        shared.isBound = false
        shared.boundFailure = nil
        shared.boundNotes.removeAll()
        if shared.failure == nil, let route = selection.route, route.action == .variants {
            do throws(Rejection) {
                try bindRoute(route)
            } catch {
                shared.boundFailure = error
            }
            for index in shared.notes..<notes.count { shared.boundNotes.append(notes[index]) }
            shared.isBound = true
        }
        closeShared()
    }

    /// Stores new texts in the memory of the request until `closeShared`.
    mutating func openShared() {
        query.isSealed = false
        swap(&texts, &shared.texts)
    }

    /// Keeps the list items of the request and stores new texts in the memory of the device again.
    mutating func closeShared() {
        shared.items = values.items.count
        query.isSealed = true
        swap(&texts, &shared.texts)
    }

    /// Repeats the notes and the failure of binding the route's own values.
    mutating func replayBinding() throws(Rejection) {
        for index in 0..<shared.boundNotes.count { notes.append(shared.boundNotes[index]) }
        if let failure = shared.boundFailure { throw failure }
    }

    /// Removes the kept results.
    mutating func forgetShared() {
        shared.isKept = false
        shared.isBound = false
        shared.texts.reset()
    }
}
