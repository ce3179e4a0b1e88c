extension JSONText {
    /// Returns the text of an object, whose members a function writes.
    package static func object(_ write: (inout JSONText) -> Void) -> String {
        var json = JSONText()
        json.object(nil, write)
        return json.finish()
    }

    /// Writes an object, whose members a function writes.
    package mutating func object(_ name: String?, _ write: (inout JSONText) -> Void) {
        beginObject(name)
        write(&self)
        endObject()
    }

    /// Writes an object, whose members a function writes, or `null` for nil.
    package mutating func object<Value>(_ name: String, of value: Value?, _ write: (inout JSONText, Value) -> Void) {
        guard let value else { return text(name, nil) }
        object(name) { write(&$0, value) }
    }

    /// Writes an array of integers.
    package mutating func numbers(_ name: String? = nil, _ values: some Sequence<Int>) {
        beginArray(name)
        for value in values { number(nil, Int64(value)) }
        endArray()
    }

    /// Writes an array of arrays of integers.
    package mutating func matrix(_ name: String, _ rows: some Sequence<some Sequence<Int>>) {
        beginArray(name)
        for row in rows { numbers(nil, row) }
        endArray()
    }

    /// Writes an array of values that are valid JSON.
    package mutating func values(_ name: String, _ values: some Sequence<[UInt8]>) {
        beginArray(name)
        for value in values { raw(nil, value) }
        endArray()
    }
}
