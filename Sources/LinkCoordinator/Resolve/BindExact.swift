internal import ByteStorage

// The canonical forms of a `decimal` and a `datetime`.
//
// They are never inlined, so that the code that binds the other types stays small.
extension Resolver {
    /// Returns the canonical form of a `decimal`, with the state `missing` for a text that is not of the type.
    @inline(never)
    mutating func decimalForm(
        _ text: ByteView, _ field: Ref<CompiledField>
    ) -> (state: BoundValue.State, view: ByteView) {
        guard let number = TextForms.decimal(text) else { return (.missing, text) }
        let bounds = field.values
        if bounds.count == 2, !FieldType.isDecimal(number, from: bounds[0], to: bounds[1]) { return (.missing, text) }
        return (.plain, number)
    }

    /// Returns the canonical form of a `datetime`, with the state `missing` for a text that is not of the type.
    ///
    /// The text of a conversion is stored with the decoded texts of the request, so it is valid as long as they are.
    @inline(never)
    mutating func dateTimeForm(_ text: ByteView) -> (state: BoundValue.State, view: ByteView) {
        guard let time = UTCDateTime(text) else { return (.missing, text) }
        if time.isCanonical { return (.text, text) }
        texts.begin()
        time.write { texts.arena.append(byte: $0) }
        return (.text, texts.finish())
    }
}
