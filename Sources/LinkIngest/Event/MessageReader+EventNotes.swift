internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

// The notes about events that are no messages, or that could be other envelopes besides.
extension MessageReader {
    /// Returns the notes about a request other than a message.
    mutating func requestNotes(isLinkTrimmed: Bool) -> UnsafeBufferPointer<RequestNote> {
        let first = isIncomplete ? 0 : 1
        return UnsafeBufferPointer(start: fixedNotes + first, count: (isLinkTrimmed ? 2 : 1) - first)
    }

    /// Reads the envelopes that an event could be besides, and keeps the notes about them.
    ///
    /// - Parameter text: The text of the event, which was validated.
    mutating func noteEnvelopes(of text: ByteView, allowsCloudEvents: Bool) {
        envelopeNotes.removeAll()
        do throws(JSONError) {
            try open(text)
            vendors.noteEnvelopes(allowsCloudEvents: allowsCloudEvents)
        } catch {
            // The payload of an event may be nested one level deeper than a record that is a push message.
            clear()
        }
        for index in 0..<vendors.notes.count {
            let note = vendors.notes[index]
            envelopeNotes.append(RequestNote(code: ByteView(note.code.text), place: note.text))
        }
    }

    /// Returns the notes about an event that could be another envelope, after `noteEnvelopes`.
    mutating func eventNotes(isLinkTrimmed: Bool) -> UnsafeBufferPointer<RequestNote> {
        let count = envelopeNotes.count
        let trimmed = fixedNotes[1]
        let isNoted = count > 0 && envelopeNotes.range(count - 1, count: 1)[0].code == trimmed.code
        if isLinkTrimmed && !isNoted { envelopeNotes.append(trimmed) }
        return envelopeNotes.range(0, count: envelopeNotes.count)
    }

    /// Opens the payload of an event again, after `noteEnvelopes`, and keeps the notes.
    mutating func reopen(_ payload: ByteView) throws(JSONError) {
        try open(payload)
        let first = vendors.notes.count
        for note in envelopeNotes.range(first, count: envelopeNotes.count - first) {
            vendors.note(.envelopeAlso, note.place)
        }
    }
}
