extension JSONValue {
    /// Returns the value at a JSON pointer (RFC 6901), or the innermost one on the way to it that is present.
    ///
    /// `isFound` indicates whether it is the value at the pointer.
    package func nearest(to pointer: String) -> (value: JSONValue, isFound: Bool) {
        var value = self
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            let element = value.array.flatMap { list in
                Int(name).flatMap { list.indices.contains($0) ? list[$0] : nil }
            }
            guard let next = value[name] ?? element else { return (value, false) }
            value = next
        }
        return (value, true)
    }
}
