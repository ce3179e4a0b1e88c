#if canImport(Darwin)
internal import Foundation
#else
@_spi(_Unicode) internal import Swift
#endif

/// The text in Unicode's normal form C (rule N5); ASCII comes back as it is.
///
/// On Linux the standard library's own tables do it, on Apple platforms Foundation's; no tables of ours.
///
/// - Parameter bytes: Well-formed UTF-8.
package func nfc(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
    return [UInt8](nfc(String(decoding: bytes, as: UTF8.self)).utf8)
}

/// The text in Unicode's normal form C (rule N5).
package func nfc(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    #if canImport(Darwin)
    return text.precomposedStringWithCanonicalMapping
    #else
    var out = String.UnicodeScalarView()
    out.append(contentsOf: text._nfc)
    return String(out)
    #endif
}
