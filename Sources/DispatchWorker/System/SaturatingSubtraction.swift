extension UInt64 {
    /// Returns the difference, or 0 if it would be negative.
    func saturatingSubtract(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }
}
