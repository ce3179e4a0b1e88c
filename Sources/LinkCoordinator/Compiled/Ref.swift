/// A reference to a value that is read in place.
///
/// Reading a member of a large struct through `pointee` first copies the whole struct, because Swift 6.3 moves values
/// of more than a few words with `memcpy`. This type reads only the member.
@dynamicMemberLookup
package struct Ref<Value>: BitwiseCopyable {
    /// The address of the value.
    package let pointer: UnsafePointer<Value>

    /// Creates a reference to a value that outlives the reference.
    @inline(__always)
    package init(_ pointer: UnsafePointer<Value>) { self.pointer = pointer }

    /// A placeholder that must be set before it is used.
    static var unset: Ref<Value> { Ref(UnsafePointer(bitPattern: 8).unsafelyUnwrapped) }

    /// A copy of the whole value.
    @inline(__always)
    package var value: Value { pointer.pointee }

    /// Accesses a member in place.
    @inline(__always)
    package subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Member {
        pointer.pointer(to: member).unsafelyUnwrapped.pointee
    }

    /// Returns a reference to a member.
    @inline(__always)
    package func ref<Member>(_ member: KeyPath<Value, Member>) -> Ref<Member> {
        Ref<Member>(pointer.pointer(to: member).unsafelyUnwrapped)
    }
}

extension UnsafeBufferPointer {
    /// Returns a reference to the element at `index`.
    @inline(__always)
    package func at(_ index: Int) -> Ref<Element> {
        assert(index >= 0 && index < count)
        return Ref<Element>(baseAddress.unsafelyUnwrapped + index)
    }
}
