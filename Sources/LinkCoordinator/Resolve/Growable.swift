/// A reusable buffer of plain values that grows on demand, used as scratch memory of the phases.
package struct Growable<Element: BitwiseCopyable>: ~Copyable {
    private(set) var base: UnsafeMutablePointer<Element>
    /// The number of elements.
    package private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 4)
        base = .allocate(capacity: self.capacity)
    }

    deinit { base.deallocate() }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow() }
        base[count] = element
        count &+= 1
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.update(from: base, count: count)
        base.deallocate()
        base = larger
        capacity *= 2
    }

    @inline(__always)
    mutating func removeAll() { count = 0 }

    /// Removes all elements and releases the memory for more than `maxCapacity` of them.
    mutating func removeAll(keeping maxCapacity: Int) {
        count = 0
        guard capacity > max(maxCapacity, 4) else { return }
        base.deallocate()
        capacity = max(maxCapacity, 4)
        base = .allocate(capacity: capacity)
    }

    /// Keeps the first `count` elements.
    mutating func truncate(to count: Int) {
        assert(count <= self.count)
        self.count = count
    }

    /// Accesses the element at an index, which must be less than `count`.
    @inline(__always)
    package subscript(index: Int) -> Element {
        get {
            assert(index >= 0 && index < count)
            return base[index]
        }
        set {
            assert(index >= 0 && index < count)
            base[index] = newValue
        }
    }

    var isEmpty: Bool { count == 0 }
}
