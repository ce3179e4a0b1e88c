internal import ByteStorage

extension String {
    /// Returns a Boolean value that indicates whether a decoded text is allowed in a link.
    ///
    /// See RouteTableReference, "Path segments".
    func isClean(invisiblesAllowed: Bool) -> Bool {
        Array(utf8).withUnsafeBufferPointer {
            PercentDecoding.isClean(ByteView($0), invisiblesAllowed: invisiblesAllowed)
        }
    }

    /// Returns a Boolean value that indicates whether both texts are equal if the case of ASCII letters is ignored.
    package func equalsFolded(_ other: String) -> Bool { utf8.map(lowerASCII) == other.utf8.map(lowerASCII) }
}
