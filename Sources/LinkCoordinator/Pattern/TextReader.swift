internal import ByteStorage

/// An error in a pattern, a type, or another small text of the table, with its position in the text.
package struct TextError: Error, Sendable, Equatable {
    /// The kind of an error.
    package enum Kind: Sendable, Equatable {
        /// The text violates the grammar.
        case syntax
        /// A tail precedes the end of the pattern.
        case tailPosition
        /// A name violates the rules of names.
        case name
        /// A name is reserved.
        case reservedName
        /// A name occurs twice.
        case duplicate
    }

    /// The kind of the error.
    package var kind: Kind

    /// A description of what was found and what was expected.
    package var message: String

    /// A description of what to do, unless the message makes it clear.
    package var suggestion: String?

    /// The byte offset in the text.
    package var offset: Int

    /// Creates an error at a byte of the text.
    package init(_ message: String, at offset: Int, kind: Kind = .syntax, suggestion: String? = nil) {
        self.message = message
        self.offset = offset
        self.kind = kind
        self.suggestion = suggestion
    }
}

/// Reads a small text of the table byte by byte: a pattern, type, template, or condition.
package struct TextReader {
    /// The whole text.
    package let bytes: [UInt8]

    /// The index of the next byte.
    package var at: Int

    /// The index after the last byte to read.
    package let end: Int

    /// Creates a reader of a text.
    package init(_ text: String) {
        bytes = Array(text.utf8)
        at = 0
        end = bytes.count
    }

    /// Creates a reader of a part of a text.
    package init(_ bytes: [UInt8], from start: Int, to end: Int) {
        self.bytes = bytes
        at = start
        self.end = end
    }

    /// The next byte, or nil at the end.
    package var next: UInt8? { at < end ? bytes[at] : nil }

    /// A Boolean value that indicates whether all bytes have been read.
    package var isAtEnd: Bool { at >= end }

    /// Skips `byte` if it is the next byte.
    ///
    /// Returns `false` if another byte is next.
    package mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        at += 1
        return true
    }

    /// Skips `word` if the remaining bytes begin with it.
    ///
    /// Returns `false` if they do not.
    package mutating func take(word: String) -> Bool {
        let expected = Array(word.utf8)
        guard at + expected.count <= end, bytes[at..<(at + expected.count)].elementsEqual(expected) else {
            return false
        }
        at += expected.count
        return true
    }

    /// Reads bytes as long as they satisfy the predicate.
    package mutating func run(while passes: (UInt8) -> Bool) -> [UInt8] {
        let start = at
        while let byte = next, passes(byte) { at += 1 }
        return Array(bytes[start..<at])
    }

    /// Reads text up to one of the stop bytes, which remains the next byte, or to the end.
    package mutating func text(until stops: Unicode.Scalar...) -> String {
        let ends = stops.map { UInt8(ascii: $0) }
        return String(decoding: run { !ends.contains($0) }, as: UTF8.self)
    }

    /// Reads the name of a capture.
    package mutating func captureName() throws(TextError) -> String {
        let start = at
        let name = String(decoding: run(while: NameRule.identifier.continues), as: UTF8.self)
        guard NameRule.identifier.matches(name) else {
            throw TextError("the name of a capture must be \(NameRule.identifier.text)", at: start, kind: .name)
        }
        if NameRule.isReserved(name) {
            throw TextError("the name `\(name)` is reserved", at: start, kind: .reservedName)
        }
        return name
    }

    /// Reads `(min..max)`, `(min..)`, or `(..max)` after the name of a type.
    ///
    /// Returns nil if no parenthesis follows.
    package mutating func bounds() throws(TextError) -> (min: Int64?, max: Int64?)? {
        let start = at
        guard take("(") else { return nil }
        let min = try boundsEnd(before: "..")
        guard take(word: "..") else {
            throw TextError("expected bounds such as `(1..99)`, `(1..)`, or `(..9)`", at: start)
        }
        let max = try boundsEnd(before: ")")
        guard take(")"), min != nil || max != nil else {
            throw TextError("expected bounds such as `(1..99)`, `(1..)`, or `(..9)`", at: start)
        }
        if let min, let max, min > max {
            throw TextError(
                "the lower bound \(min) is greater than the upper bound \(max)", at: start,
                suggestion: "write `(\(max)..\(min))`")
        }
        return (min, max)
    }

    private mutating func boundsEnd(before what: String) throws(TextError) -> Int64? {
        let start = at
        let digits = run { $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "0") < 10 }
        if digits.isEmpty { return nil }
        guard let value = digits.withUnsafeBufferPointer({ TextForms.integer(ByteView($0)) }) else {
            throw TextError(
                "expected a 64-bit number without leading zeros before `\(what)`", at: start,
                suggestion: "write bounds such as `(1..99)`, `(1..)`, or `(..9)`")
        }
        return value
    }

    /// Reads `(a|b|c)` after `enum`: nonempty and unique values in their order.
    package mutating func enumValues() throws(TextError) -> [[UInt8]] {
        guard take("(") else { throw TextError("expected values, such as `enum(a|b)`", at: at) }
        var values: [[UInt8]] = []
        repeat {
            let start = at
            let value = run { $0 != UInt8(ascii: "|") && $0 != UInt8(ascii: ")") && $0 != UInt8(ascii: "}") }
            if value.isEmpty { throw TextError("a value of an enum must not be empty", at: start) }
            if values.contains(value) {
                throw TextError(
                    "the value `\(String(decoding: value, as: UTF8.self))` occurs twice in the enum", at: start,
                    kind: .duplicate)
            }
            values.append(value)
        } while take("|")
        guard take(")") else { throw TextError("expected `)` after the values of the enum", at: at) }
        return values
    }
}
