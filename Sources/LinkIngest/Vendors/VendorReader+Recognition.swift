internal import ByteStorage
internal import StrictJSON

// Recognizing the vendor and the form of a push message.
extension VendorReader {
    /// Returns the address of a form, so that it is read in place.
    @inline(__always)
    mutating func form(_ number: Int32) -> UnsafePointer<FormImage> {
        image.forms.baseAddress.unsafelyUnwrapped + Int(number)
    }

    /// Returns the first form from a position on that is recognized in the surface, or -1.
    mutating func recognized(_ surfaces: VendorSurfaces, from start: Int) -> Int {
        var form = surface.candidate(from: start)
        while form >= 0 {
            let image = self.form(Int32(truncatingIfNeeded: form))
            if !image.pointee.surfaces.isDisjoint(with: surfaces), holds(image.pointee.marks) { return form }
            form = surface.candidate(from: form &+ 1)
        }
        return -1
    }

    /// Finds the form, and notes the other vendors.
    mutating func recognize(_ surfaces: VendorSurfaces, _ reading: inout VendorReading) {
        let chosen = recognized(surfaces, from: 0)
        if chosen < 0 { return }
        reading.form = Int32(truncatingIfNeeded: chosen)
        var last = image.forms[chosen].vendor
        var form = recognized(surfaces, from: chosen &+ 1)
        while form >= 0 {
            // The forms of a vendor follow one another.
            if image.forms[form].vendor != last {
                last = image.forms[form].vendor
                note(.vendorAlso, image.vendors[Int(last)])
            }
            form = recognized(surfaces, from: form &+ 1)
        }
    }

    /// Notes strings that should contain JSON and do not: strings of the form and of the other forms that were tried,
    /// or of all forms if none is recognized.
    mutating func noteInvalidText(_ reading: VendorReading, _ message: VendorMessage) {
        let first = notes.count
        let surfaces = message.recordForm >= 0 ? .record : message.surfaces
        if reading.form >= 0 {
            noteInvalidText(form(reading.form).pointee.embedded, isKnown: true, from: first)
            var index = surface.candidate(from: 0)
            while index >= 0 {
                noteInvalidText(of: Int32(truncatingIfNeeded: index), surfaces, from: first)
                index = surface.candidate(from: index &+ 1)
            }
            return
        }
        for form in image.embeddings { noteInvalidText(of: form, surfaces, from: first) }
    }

    /// Notes strings of a form that is not recognized.
    private mutating func noteInvalidText(of form: Int32, _ surfaces: VendorSurfaces, from first: Int) {
        let form = self.form(form)
        if form.pointee.surfaces.isDisjoint(with: surfaces) { return }
        noteInvalidText(form.pointee.embedded, isKnown: false, from: first)
    }

    private mutating func noteInvalidText(_ places: PointerImages, isKnown: Bool, from first: Int) {
        for place in places {
            if place.slot >= 0, surface.member(place.slot) < 0 { continue }
            let node = value(place)
            guard node >= 0, tape.kind(of: node) == .string else { continue }
            tests.giveUp()
            let text = tape.text(of: node)
            if text.isEmpty || !isKnown && !Self.resemblesJSON(text) { continue }
            let content = tape.readContent(of: node)
            if content >= 0, tape.kind(of: content) == .object || tape.kind(of: content) == .array { continue }
            let pointer = notedPointer(to: node)
            var isNoted = false
            for index in first..<notes.count where notes[index].text == pointer { isNoted = true }
            if !isNoted { note(.jsonText, pointer) }
        }
    }

    /// Returns a Boolean value that indicates whether a text begins like an object or an array.
    ///
    /// A byte order mark, and the quotation mark of a second encoding, can come before it.
    private static func resemblesJSON(_ text: ByteView) -> Bool {
        let mark: StaticString = "\u{FEFF}"
        var rest = text.hasPrefix(ByteView(mark)) ? text.dropFirst(mark.utf8CodeUnitCount) : text
        for _ in 0..<2 {
            rest = rest.dropFirst(WireFormat.trimmed(rest, from: 0).lowerBound)
            if rest.isEmpty { return false }
            if rest[0] | 0x20 == UInt8(ascii: "{") { return true }
            if rest[0] != UInt8(ascii: "\"") { return false }
            rest = rest.dropFirst(1)
        }
        return false
    }
}
