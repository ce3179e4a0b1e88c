// Finds the values of names.
extension QueryReader {
    /// Returns the value of a name under the dialect's rule for duplicates.
    ///
    /// Nulls that are kept are ignored if the name also has a value. Nulls that erase count like any other item. With
    /// `reject`, every item counts.
    mutating func find(_ name: Ref<CompiledQueryName>, _ texts: inout ResolutionTexts) -> Found {
        split(&texts)
        var first = -1
        var last = -1
        var count = 0
        var index = firstPiece(name)
        while index >= 0 {
            count &+= 1
            if block.nullsErase || (pieces.base + index).pointee.hasValue {
                if first < 0 { first = index }
                last = index
            }
            // In a flat list, only the first occurrence counts.
            if block.flatten { break }
            index = nextPiece(after: index, name)
        }
        if count == 0 { return .absent }
        if count > 1 && block.duplicates == .reject { return .invalid }
        let chosen = block.duplicates == .last ? last : first
        if chosen < 0 || !pieces[chosen].hasValue { return block.flatten ? .absent : .null }
        return text(ofPiece: chosen, &texts).map { .text($0) } ?? .invalid
    }

    /// Returns a Boolean value that indicates whether the name is present, with or without a value.
    mutating func contains(_ name: Ref<CompiledQueryName>, _ texts: inout ResolutionTexts) -> Bool {
        split(&texts)
        return firstPiece(name) >= 0
    }
}
