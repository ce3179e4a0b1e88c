internal import ByteStorage

/// Why a pattern, a type or another small text of the table does not read, and where in it.
package struct TextError: Error, Sendable, Equatable {
    /// What kind of mistake it is.
    package enum Kind: Sendable, Equatable {
        /// The text breaks the grammar.
        case syntax
        /// A tail stands before the end.
        case tailPosition
        /// A name breaks the rule of names.
        case name
        /// A name is reserved.
        case reservedName
        /// A name stands twice.
        case duplicate
    }

    /// The kind.
    package var kind: Kind

    /// What was found and what was expected.
    package var message: String

    /// What to do, if that is not plain from the message.
    package var suggestion: String?

    /// Byte offset in the text.
    package var offset: Int

    /// Makes an error at a byte of the text.
    package init(_ message: String, at offset: Int, kind: Kind = .syntax, suggestion: String? = nil) {
        self.message = message
        self.offset = offset
        self.kind = kind
        self.suggestion = suggestion
    }
}

/// Reads a small text of the table byte by byte: patterns, types, templates, conditions.
package struct TextReader {
    /// The whole text.
    package let bytes: [UInt8]

    /// Index of the next byte.
    package var at: Int

    /// Index one past the last byte to read.
    package let end: Int

    /// Starts at the beginning of a text.
    package init(_ text: String) {
        bytes = Array(text.utf8)
        at = 0
        end = bytes.count
    }

    /// Starts inside a text that was split.
    package init(_ bytes: [UInt8], from start: Int, to end: Int) {
        self.bytes = bytes
        at = start
        self.end = end
    }

    /// The next byte, nil at the end.
    package var next: UInt8? { at < end ? bytes[at] : nil }

    /// Whether everything was read.
    package var isAtEnd: Bool { at >= end }

    /// Steps over `byte` if it is next.
    package mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        at += 1
        return true
    }

    /// Steps over `word` if it is next.
    package mutating func take(word: String) -> Bool {
        let wanted = Array(word.utf8)
        guard at + wanted.count <= end, bytes[at..<(at + wanted.count)].elementsEqual(wanted) else { return false }
        at += wanted.count
        return true
    }

    /// Reads on while bytes pass the test.
    package mutating func run(while passes: (UInt8) -> Bool) -> [UInt8] {
        let start = at
        while let byte = next, passes(byte) { at += 1 }
        return Array(bytes[start..<at])
    }

    /// Reads on to one of the bytes, which stays next, or to the end.
    package mutating func text(until stops: Unicode.Scalar...) -> String {
        let ends = stops.map { UInt8(ascii: $0) }
        return String(decoding: run { !ends.contains($0) }, as: UTF8.self)
    }

    /// Reads the name of a capture.
    package mutating func captureName() throws(TextError) -> String {
        let start = at
        let name = String(decoding: run(while: NameRule.identifier.continues), as: UTF8.self)
        guard NameRule.identifier.takes(name) else {
            throw TextError("a capture's name must be \(NameRule.identifier.text)", at: start, kind: .name)
        }
        if NameRule.isReserved(name) {
            throw TextError("the name '\(name)' is reserved", at: start, kind: .reservedName)
        }
        return name
    }

    /// Reads `(min..max)`, `(min..)` or `(..max)` after a type's name; nil if no bracket follows.
    package mutating func bounds() throws(TextError) -> (min: Int64?, max: Int64?)? {
        let start = at
        guard take("(") else { return nil }
        let min = try boundsEnd(before: "..")
        guard take(word: "..") else {
            throw TextError("expected bounds such as (1..99), (1..) or (..9)", at: start)
        }
        let max = try boundsEnd(before: ")")
        guard take(")"), min != nil || max != nil else {
            throw TextError("expected bounds such as (1..99), (1..) or (..9)", at: start)
        }
        if let min, let max, min > max {
            throw TextError(
                "the lower bound \(min) is over the upper bound \(max)", at: start,
                suggestion: "write (\(max)..\(min))")
        }
        return (min, max)
    }

    private mutating func boundsEnd(before what: String) throws(TextError) -> Int64? {
        let start = at
        let digits = run { $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "0") < 10 }
        if digits.isEmpty { return nil }
        guard let value = digits.withUnsafeBufferPointer({ TextForms.integer(ByteView($0)) }) else {
            throw TextError(
                "expected a 64-bit number without leading zeros before '\(what)'", at: start,
                suggestion: "bounds are such as (1..99), (1..) or (..9)")
        }
        return value
    }

    /// Reads `(a|b|c)` after `enum`: values in their order, none empty, none twice.
    package mutating func enumValues() throws(TextError) -> [[UInt8]] {
        guard take("(") else { throw TextError("expected enum(a|b)", at: at) }
        var values: [[UInt8]] = []
        repeat {
            let start = at
            let value = run { $0 != UInt8(ascii: "|") && $0 != UInt8(ascii: ")") && $0 != UInt8(ascii: "}") }
            if value.isEmpty { throw TextError("a value of an enum must not be empty", at: start) }
            if values.contains(value) {
                throw TextError(
                    "the value '\(String(decoding: value, as: UTF8.self))' stands twice in the enum", at: start,
                    kind: .duplicate)
            }
            values.append(value)
        } while take("|")
        guard take(")") else { throw TextError("expected ')' after the values of the enum", at: at) }
        return values
    }
}
