/// Compares bytewise.
///
/// Returns a negative number if `a` comes first, a positive number if `b` comes first, and 0 if they are equal.
package func compareBytes(_ a: [UInt8], _ b: [UInt8]) -> Int {
    for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
    return a.count - b.count
}

/// Compares the UTF-8 bytes of two texts.
package func compareBytes(_ a: String, _ b: String) -> Int {
    if a.utf8.elementsEqual(b.utf8) { return 0 }
    return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
}
