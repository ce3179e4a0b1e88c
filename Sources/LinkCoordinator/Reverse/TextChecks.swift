internal import ByteStorage

extension String {
    /// Whether text that was decoded may stand in a link (N4).
    func isClean(invisiblesAllowed: Bool) -> Bool {
        Array(utf8).withUnsafeBufferPointer {
            PercentDecoding.isClean(ByteView($0), invisiblesAllowed: invisiblesAllowed)
        }
    }

    /// Whether both are equal when ASCII capitals count as small letters.
    package func equalsFolded(_ other: String) -> Bool { utf8.map(lowerASCII) == other.utf8.map(lowerASCII) }
}
