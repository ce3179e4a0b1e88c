extension ViewLender {
    /// Returns a view that can be read until `revoke`.
    @inlinable
    @inline(__always)
    public func lend(_ start: UnsafePointer<UInt8>, count: Int) -> ByteView {
        ByteView(start: start, count: count, lease: lease)
    }

    /// Returns the bytes of a view with the lease of this lender.
    @inlinable
    @inline(__always)
    public func lend(_ view: ByteView) -> ByteView { ByteView(start: view.start, count: view.count, lease: lease) }
}
