internal import ByteStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension ByteView {
    /// Creates a view of a C string without its terminating zero.
    init(cString: UnsafePointer<CChar>) {
        self.init(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }

    /// Creates a view of a C field with a length.
    ///
    /// Nil stays nil, which is different from an empty field.
    @inline(__always)
    init?(pointer: UnsafeMutableRawPointer?, count: Int) {
        guard let pointer else { return nil }
        self.init(start: UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self), count: count)
    }
}
