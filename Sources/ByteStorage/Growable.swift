/// A reusable buffer of plain values that grows on demand, for scratch memory.
public struct Growable<Element: BitwiseCopyable>: ~Copyable {
    /// The address of the first element, which is valid until the buffer grows.
    @inlinable
    @inline(__always)
    public var base: UnsafeMutablePointer<Element> { start }
    /// The number of elements.
    @inlinable
    @inline(__always)
    public var count: Int { used }
    @usableFromInline var start: UnsafeMutablePointer<Element>
    @usableFromInline var used = 0
    @usableFromInline var capacity: Int

    /// Creates an empty buffer.
    ///
    /// - Parameter capacity: The number of elements for which there is space at first, at least 4.
    @inlinable
    public init(capacity: Int) {
        self.capacity = max(capacity, 4)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    /// Adds an element.
    @inlinable
    @inline(__always)
    public mutating func append(_ element: Element) {
        if used == capacity { grow() }
        start[used] = element
        used &+= 1
    }

    @inline(never)
    @usableFromInline
    mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.update(from: start, count: used)
        start.deallocate()
        start = larger
        capacity *= 2
    }

    /// Removes all elements.
    @inlinable
    @inline(__always)
    public mutating func removeAll() { used = 0 }

    /// Removes all elements and releases the memory for more than `maxCapacity` of them.
    public mutating func removeAll(keeping maxCapacity: Int) {
        used = 0
        guard capacity > max(maxCapacity, 4) else { return }
        start.deallocate()
        capacity = max(maxCapacity, 4)
        start = .allocate(capacity: capacity)
    }

    /// Keeps the first `count` elements.
    @inlinable
    public mutating func truncate(to count: Int) {
        assert(count <= used)
        used = count
    }

    /// Accesses the element at an index, which must be less than `count`.
    @inlinable
    @inline(__always)
    public subscript(index: Int) -> Element {
        get {
            assert(index >= 0 && index < used)
            return start[index]
        }
        set {
            assert(index >= 0 && index < used)
            start[index] = newValue
        }
    }

    /// Returns the elements from a position on, which are valid until the next one is added.
    @inlinable
    public func range(_ first: Int, count: Int) -> UnsafeBufferPointer<Element> {
        assert(first >= 0 && first + count <= used)
        return UnsafeBufferPointer(start: start + first, count: count)
    }

    /// A Boolean value that indicates whether there are no elements.
    @inlinable
    public var isEmpty: Bool { used == 0 }
}
