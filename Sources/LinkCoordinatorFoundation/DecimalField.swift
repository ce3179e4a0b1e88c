public import Foundation
public import LinkCoordinator

/// A field of the type `decimal`, `double`, or `int` as a property of the type `Decimal`, without a loss of precision.
extension Decimal: ModelFieldValue {
    /// The kind of the field, a number.
    public static var fieldKind: ModelFieldKind { .number }

    /// The largest number of significant digits that a `Decimal` holds exactly.
    static let maxDigits = 38

    /// The length of the longest text that is read, in bytes.
    static let maxBytes = 128

    /// Creates a number from the text of a JSON number without an exponent.
    ///
    /// Returns nil for a number with more than 38 significant digits, which a `Decimal` cannot hold exactly.
    public init?(fieldText: String) {
        let digits = fieldText.hasPrefix("-") ? fieldText.dropFirst() : fieldText[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let isNumber =
            (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }
        let significant = digits.utf8.filter(Self.isDigit).drop { $0 == UInt8(ascii: "0") }
        guard isNumber, significant.count <= Self.maxDigits, fieldText.utf8.count <= Self.maxBytes,
            let value = Decimal(string: fieldText, locale: Locale(identifier: "en_US_POSIX"))
        else { return nil }
        self = value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The number without an exponent.
    public var fieldText: String { description }
}
