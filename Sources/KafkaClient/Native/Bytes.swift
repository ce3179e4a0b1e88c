internal import ByteStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension ByteView {
    /// The bytes of a C string without its terminating zero.
    init(cString: UnsafePointer<CChar>) {
        self.init(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }

    /// The bytes of a C field with a length: nil stays nil, which an empty field is not.
    @inline(__always)
    init?(pointer: UnsafeMutableRawPointer?, count: Int) {
        guard let pointer else { return nil }
        self.init(start: UnsafeRawPointer(pointer).assumingMemoryBound(to: UInt8.self), count: count)
    }
}
