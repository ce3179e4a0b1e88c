package import ByteStorage

/// What a request came to before anything was asked of a device, kept for the devices after the first.
struct SharedPart: ~Copyable {
    /// Whether it is kept: there was a second device.
    var isKept = false
    /// Whether what is made now stands in the request's memory, and so may be kept for all devices.
    var isOpen = false
    /// The resolver's memory for texts, in turn with its own: what the request lends stands in the one, what the device
    /// lends in the other.
    var texts = OutputArena(chunkBytes: 4096)
    var built = OutputArena(chunkBytes: 4096)
    /// Number of notes when *select* was done, or had failed, and why it had.
    var notes = 0
    var failure: Rejection?
    /// Whether the route's own values are bound, the notes that this made, and why it failed.
    var isBound = false
    var boundNotes = Growable<Note>(capacity: 4)
    var boundFailure: Rejection?
    /// Number of list items that the route's own values have.
    var items = 0
}

extension Resolver {
    /// Resolves the request that was resolved last, and nothing of which has changed, for another device.
    ///
    /// Nothing of the request is read, selected or bound again; the decision is, byte for byte, the one that `resolve`
    /// would give. Parents that are the entries of other routes depend on the device and are bound for each.
    package mutating func resolveNext(
        _ device: UnsafePointer<DeviceView>, head: UnsafePointer<DecisionHead>?, into out: inout OutputArena
    ) -> DecisionSummary {
        if lastStamp >= .max - 2 {
            // Stamps begin anew, which takes the bound values with it.
            let table = TableHandle(image: image, pointers: pointers, numbers: pointerNumbers)
            return resolve(request.pointer, device, table: table, head: head, keepsReadings: true, into: &out)
        }
        if !shared.isKept { keepShared() }
        lastStamp &+= 1
        deviceStamp = lastStamp
        self.device = Ref(device)
        self.head = head.map { Ref($0) }
        texts.reset()
        built.reset()
        notes.truncate(to: shared.notes)
        items.truncate(to: shared.items)
        versionsRead = false
        variant = -1
        stack.removeAll()
        stackIsStatic = false
        do throws(Rejection) {
            if let failure = shared.failure { throw failure }
            return try decide(&out)
        } catch {
            return fallBack(error, &out)
        }
    }

    /// Brings the request to where it no longer depends on the device, and puts what it lends where it stays.
    @inline(never)
    private mutating func keepShared() {
        shared.isKept = true
        shared.isOpen = true
        hasReadings = true
        notes.truncate(to: shared.notes)
        items.removeAll()
        lastStamp &+= 1
        readings.forget(stamp: lastStamp)
        // What would be made when a device first asks for it is made now, in the request's own memory.
        splitQuery()
        decodePieces()
        shared.isBound = false
        shared.boundFailure = nil
        shared.boundNotes.removeAll()
        if isRouted, route >= 0, case let chosen = image.routes.at(route), chosen.action == .variants {
            do throws(Rejection) {
                try bindRoute(chosen)
            } catch {
                shared.boundFailure = error
            }
            for index in shared.notes..<notes.count { shared.boundNotes.append(notes[index]) }
            shared.isBound = true
        }
        closeShared()
        textsUsed = true
    }

    /// From here on what is made stands in the request's memory, until `closeShared`.
    mutating func openShared() {
        shared.isOpen = true
        swap(&texts, &shared.texts)
        swap(&built, &shared.built)
    }

    /// Keeps the list items that were read for the request; from here on what is made is the device's.
    mutating func closeShared() {
        shared.items = items.count
        shared.isOpen = false
        swap(&texts, &shared.texts)
        swap(&built, &shared.built)
    }

    /// Notes what binding the route's own values noted, and throws what it threw.
    mutating func replayBinding() throws(Rejection) {
        for index in 0..<shared.boundNotes.count { notes.append(shared.boundNotes[index]) }
        if let failure = shared.boundFailure { throw failure }
    }

    /// Forgets the kept part.
    mutating func forgetShared() {
        shared.isKept = false
        shared.isBound = false
        shared.texts.reset()
        shared.built.reset()
    }

    /// Decodes the values of the query, each once.
    private mutating func decodePieces() {
        for index in 0..<pieces.count where pieces[index].hasValue { _ = text(ofPiece: index) }
    }
}
