package import LinkCoordinator
internal import ByteStorage

extension VersionText {
    /// Returns a negative number, zero, or a positive number if the version is lower, equal, or higher than another.
    ///
    /// Versions of the same order can be written differently, such as `1` and `1.0`.
    package func order(_ other: VersionText) -> Int {
        bytes.withUnsafeBufferPointer { first in
            other.bytes.withUnsafeBufferPointer { second in
                guard let first = Version(ByteView(first)), let second = Version(ByteView(second)) else { return 0 }
                return Version.compare(first, second)
            }
        }
    }
}
