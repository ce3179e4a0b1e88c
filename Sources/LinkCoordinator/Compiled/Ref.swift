/// A value that is read where it stands.
///
/// Reading one member of a large struct through `pointee` copies the whole struct first (Swift 6.3 moves values of
/// more than a few words by `memcpy`); this reads just the member.
@dynamicMemberLookup
package struct Ref<Value>: BitwiseCopyable {
    /// The address of the value.
    package let pointer: UnsafePointer<Value>

    /// Makes a reference to a value that outlives it.
    @inline(__always)
    package init(_ pointer: UnsafePointer<Value>) { self.pointer = pointer }

    /// A place that is never read, for what is set before every use.
    static var unset: Ref<Value> { Ref(UnsafePointer(bitPattern: 8).unsafelyUnwrapped) }

    /// The whole value, copied.
    @inline(__always)
    package var value: Value { pointer.pointee }

    /// A member, read in place.
    @inline(__always)
    package subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Member {
        pointer.pointer(to: member).unsafelyUnwrapped.pointee
    }

    /// A member, lent in place.
    @inline(__always)
    package func ref<Member>(_ member: KeyPath<Value, Member>) -> Ref<Member> {
        Ref<Member>(pointer.pointer(to: member).unsafelyUnwrapped)
    }
}

extension UnsafeBufferPointer {
    /// The element at `index`, in place.
    @inline(__always)
    package func at(_ index: Int) -> Ref<Element> {
        assert(index >= 0 && index < count)
        return Ref<Element>(baseAddress.unsafelyUnwrapped + index)
    }
}
