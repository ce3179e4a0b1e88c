internal import ByteStorage
internal import StrictJSON

/// The members of one JSON value at a time, such as a decision.
///
/// A value is read once, on the first use of a member. Memory is used again for the next value. Members beyond the
/// limit of `JSONTape` are not found.
struct DecisionTape: ~Copyable {
    private enum State { case unread, valid, invalid }

    /// The limit of nested objects and arrays.
    ///
    /// The context of a decision is deeper than the event from which it is copied, which can have 512 levels.
    static let depth = 520

    private var tape = JSONTape(depth: DecisionTape.depth)
    private var value: ByteView?
    private var state = State.invalid

    /// Sets the value, which must be valid as long as its members are used.
    mutating func begin(_ value: ByteView?) {
        self.value = value
        state = value == nil ? .invalid : .unread
    }

    /// Reads the value, and returns a Boolean value that indicates whether it is JSON.
    mutating func read() -> Bool {
        guard state == .unread, let value else { return state == .valid }
        tape.clear()
        do throws(JSONError) {
            _ = try tape.append(strict: value)
            state = .valid
        } catch {
            state = .invalid
        }
        return state == .valid
    }

    /// Returns the member of an object, or -1.
    ///
    /// - Parameter object: The object, or -1. The value itself is node 0.
    mutating func member(_ name: ByteView, of object: Int32 = 0) -> Int32 {
        guard object >= 0, read() else { return -1 }
        return tape.member(name, of: object)
    }

    /// Returns the member of an object, or -1.
    mutating func member(_ name: StaticString, of object: Int32 = 0) -> Int32 { member(ByteView(name), of: object) }

    /// Returns the value at a path of names and, in arrays, of indices, or -1.
    mutating func node(_ path: [[UInt8]]) -> Int32 {
        guard read() else { return -1 }
        var node: Int32 = 0
        for name in path {
            node = name.withUnsafeBufferPointer { step(ByteView($0), of: node) }
            if node < 0 { break }
        }
        return node
    }

    private func step(_ name: ByteView, of node: Int32) -> Int32 {
        if tape.kind(of: node) == .array {
            guard name.count <= 9, let index = Int(name.string), index >= 0 else { return -1 }
            return tape.element(index, of: node)
        }
        return tape.member(name, of: node)
    }

    /// Returns the text of a string, or nil for another value or -1.
    mutating func string(_ node: Int32) -> ByteView? { tape.isString(node) ? tape.text(of: node) : nil }

    /// Returns the text of a value, as it is written if it is an array or an object.
    mutating func text(of node: Int32) -> ByteView { tape.text(of: node) }

    /// Returns the text of a member if it is a string.
    mutating func string(_ name: StaticString, of object: Int32 = 0) -> ByteView? { string(member(name, of: object)) }

    /// Calls a function with the unescaped text of a string, or with the text of another value without white space.
    mutating func withText(of node: Int32, _ body: (ByteView) -> Void) {
        let text = tape.text(of: node)
        guard tape.kind(of: node) == .array || tape.kind(of: node) == .object,
            let json = try? JSONValue.parse(text.array, maxDepth: Self.depth)
        else { return body(text) }
        var compact = json.text
        compact.withUTF8 { body(ByteView($0)) }
    }

    /// Returns the nodes of the values of an array or object, or none for another value or -1.
    ///
    /// Begin with `first`, and continue with `next` below `end`.
    func range(of node: Int32, _ kind: JSONTape.Kind) -> (first: Int32, end: Int32) {
        guard node >= 0, tape.kind(of: node) == kind else { return (0, 0) }
        return (tape.first(in: node), tape.end(of: node))
    }

    /// Returns the node after a value and all values inside it.
    func next(after node: Int32) -> Int32 { tape.next(after: node) }

    /// Returns the name of a member.
    func name(of node: Int32) -> ByteView { tape.nodes[Int(node)].name }

    /// Returns the kind of a value.
    func kind(of node: Int32) -> JSONTape.Kind { tape.kind(of: node) }

    /// Returns the device of a decision, or else the key of its record, which is no device if there is a user instead.
    mutating func device(key: ByteView?) -> ByteView? { string("device") ?? (member("user") < 0 ? key : nil) }

    /// The campaign of the push message, or else a campaign that was passed through.
    var campaign: ByteView? {
        mutating get {
            let context = member("context")
            return string("campaign", of: member("push", of: context)) ?? string("campaign", of: context)
        }
    }

    /// The object with the items of the link's query, or -1.
    var query: Int32 {
        mutating get { member("query", of: member("context")) }
    }

    /// The JSON text of that object.
    var queryText: ByteView? {
        mutating get {
            let node = query
            return node >= 0 && kind(of: node) == .object ? text(of: node) : nil
        }
    }

    /// The application that was passed through, or the application of an event.
    var application: ByteView? {
        mutating get { string("application", of: member("context")) ?? string("application", of: event) }
    }
}
