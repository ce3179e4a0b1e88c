package import ByteStorage

/// A table in the form that the resolver reads: immutable plain values in the table's own memory.
package final class CompiledTable: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the storage is written only while the table is compiled.

    private let storage: TableStorage
    /// The table's compiled values.
    package let data: Ref<CompiledTableData>
    private let pointers: Ref<PointerTrie>
    private let numbers: UnsafePointer<Int32>?

    private static let serials = Lock<UInt64>(0)

    /// Compiles a checked table.
    ///
    /// `hash` is the first 8 hexadecimal digits of the SHA-256 of its file.
    package init(_ source: TableSource, hash: String) {
        let storage = TableStorage()
        let serial = Self.serials.withLock { last in
            last &+= 1
            return last
        }
        var compiler = TableCompiler(source, storage: storage)
        let compiled = compiler.compile(serial: serial, hash: hash)
        self.storage = storage
        data = storage.store([compiled]).at(0)
        pointers = compiler.pointers.store(in: storage)
        numbers = storage.store(Array(0..<Int32(pointers.count))).baseAddress
    }

    /// A handle to the table for the resolver.
    ///
    /// It is valid as long as this object.
    package var handle: TableHandle { TableHandle(data: data, pointers: pointers, numbers: numbers) }
}

/// The rules for reading links of some schemes.
package struct CompiledLinkBlock: BitwiseCopyable {
    var hostIsSegment: Bool
    var hosts: UnsafeBufferPointer<CompiledHostRule>
    var schemesAreExact: Bool
    var emptySegments: TableSource.LinkBlock.EmptySegments
    var separators: UnsafeBufferPointer<UInt8>
    /// A Boolean value that indicates whether query names are compared without regard to ASCII case.
    package var namesFold: Bool
    var duplicates: TableSource.QueryDialect.Duplicates
    var decode: TableSource.QueryDialect.Decode
    var plusIsSpace: Bool
    var nullsErase: Bool
    var flatten: Bool
    var repair: Bool
    var rewrites: UnsafeBufferPointer<CompiledRewrite>
}

/// A scheme and the block that reads it.
struct CompiledScheme {
    var text: ByteView
    var block: Int32
    /// The number of the scheme among the schemes that patterns mention, or -1.
    var number: Int32
}

/// A compiled host rule.
struct CompiledHostRule {
    enum Kind: UInt8 { case any, empty, exact, suffix }
    var kind: Kind
    var text: ByteView
    /// The port, or -1 for any port.
    var port: Int32
}

/// A compiled rewrite, which removes a prefix of the path.
struct CompiledRewrite {
    var segments: UnsafeBufferPointer<CompiledMatcher>
    /// The index of the captured segment, or -1.
    var captured: Int32
    /// The number of the capture's name, or -1.
    var name: Int32
    var nameText: ByteView
    var prefixText: ByteView
}

/// The compiled type of a field.
package struct CompiledField: BitwiseCopyable {
    enum Kind: UInt8 { case uuid, int, string, bool, double, date, enumeration, url, list, decimal, dateTime }
    /// The value of a field to which nothing is bound.
    package enum Absence: UInt8, BitwiseCopyable { case required, null, value, emptyList }
    var kind: Kind
    /// The kind of the items of a list.
    var item: Kind
    /// The bounds of an integer or of the length of a text in bytes.
    ///
    /// For a list, these are the bounds of its items.
    var min: Int64
    var max: Int64
    /// The minimum and maximum number of items of a list.
    var minCount: Int32
    var maxCount: Int32
    /// The values of an enum, or the lower and the upper bound of a `decimal`, which are empty if there is none.
    var values: UnsafeBufferPointer<ByteView>
    var hosts: UnsafeBufferPointer<CompiledHostRule>
    /// The value if nothing is bound to the field.
    package var absence: Absence
    /// The default as JSON, or `null` or `[]`.
    var absentJSON: ByteView
    /// The default as text, for an identity.
    var absentText: ByteView
    package var modelName: ByteView
    /// The name of the field.
    package var name: ByteView
}

/// A compiled binding: the source of a field's value.
package struct CompiledBinding: BitwiseCopyable {
    enum Source: UInt8 { case path, query, rewrite, payload, fragment, constant }
    /// The index of the field in the table.
    package var field: Int32
    var source: Source
    /// The number of the name of the capture or rewrite.
    package var name: Int32
    /// The query name that the value comes from.
    package var query: CompiledQueryName
    /// The number of the pointer into the payload, among the table's own pointers.
    var pointerIndex: Int32
    var constant: ByteView
    /// A Boolean value that indicates whether every capture of the name has the field's type, so its text needs no
    /// further validation.
    var trusted: Bool
    /// The number of the value, equal for all bindings that read the same value, or -1 if the value is not kept.
    var reading: Int32
}

/// A step of a program: constant bytes or a value.
struct Op {
    enum Kind: UInt8 { case bytes, value, text, identityStart, identityEnd }
    var kind: Kind
    var field: Int32
    var bytes: ByteView
}

/// The bytes and values to write for an entry or a stack.
struct Program {
    var ops: UnsafeBufferPointer<Op>
    /// The number of bytes of all constant parts, which are reserved at once.
    var constantBytes: Int
}

/// A compiled entry of a stack: a screen and its presentation.
package struct CompiledEntry: BitwiseCopyable {
    /// The index of the screen in the table.
    package var screen: Int32
    /// The presentation of the entry.
    package var present: Presentation
    /// The scope of its data: 0 for the route's own values, otherwise the scope of a parent route.
    var scope: UInt8
    /// A Boolean value that indicates whether the entry comes from the parents of a route.
    package var isParent: Bool
    var program: Program
}

/// A compiled screen.
package struct CompiledScreen: BitwiseCopyable {
    /// The index of the coordinator in the table.
    package var coordinator: Int32
    var name: ByteView
    /// The fields of the models that the screen needs.
    var fields: UnsafeBufferPointer<Int32>
    /// The required fields among them.
    var required: UnsafeBufferPointer<Int32>
    var dependsOnDevice: Bool
    var since: CompiledVersion?
    var until: CompiledVersion?
    var requires: UnsafeBufferPointer<Int32>
    var nav: Bool
    /// The entry of the screen in a path.
    var entry: CompiledEntry
}

/// A compiled coordinator.
package struct CompiledCoordinator: BitwiseCopyable {
    /// The name of the coordinator.
    package var name: ByteView
    /// The index of the initial screen, or -1.
    var initial: Int32
    var parent: Int32
    /// The index of the guard of the coordinator, or -1.
    package var guarding: Int32
    var singleSlot: Bool
    /// The parent entries of a stack that begins with this coordinator, for `parents: initial`.
    ///
    /// The coordinator's own initial screen is the last.
    var ancestors: UnsafeBufferPointer<CompiledEntry>
}

/// A compiled version.
struct CompiledVersion { var version: Version }

/// A compiled capability.
struct CompiledCapability {
    var name: ByteView
    var minApp: CompiledVersion?
    var minOS: CompiledVersion?
    var platforms: UnsafeBufferPointer<ByteView>
    var testsPlatform: Bool
    var listed: Bool
}

/// A compiled comparison with a version.
struct CompiledVersionTest {
    var version: Version
    /// The accepted results of comparing the device's version with this one: one bit each for lower, equal, and higher.
    var orders: UInt8

    init(_ relation: TableSource.Condition.VersionTest.Relation, _ version: Version) {
        self.version = version
        orders =
            switch relation {
            case .below: 0b001
            case .equal: 0b010
            case .above: 0b100
            case .atMost: 0b011
            case .atLeast: 0b110
            }
    }
}

/// An attribute and its accepted texts.
struct CompiledAttribute {
    var name: ByteView
    var values: UnsafeBufferPointer<ByteView>
}

/// A compiled condition (`when`).
package struct CompiledCondition: BitwiseCopyable {
    var app: UnsafeBufferPointer<CompiledVersionTest>
    var os: UnsafeBufferPointer<CompiledVersionTest>
    var capabilities: UnsafeBufferPointer<Int32>
    var claims: UnsafeBufferPointer<ByteView>
    var platforms: UnsafeBufferPointer<ByteView>
    var testsPlatform: Bool
    var regions: UnsafeBufferPointer<ByteView>
    var testsRegion: Bool
    var locales: UnsafeBufferPointer<ByteView>
    var testsLocale: Bool
    var attributes: UnsafeBufferPointer<CompiledAttribute>
    var query: UnsafeBufferPointer<CompiledConstraint>
    /// A Boolean value that indicates whether the condition tests anything other than versions.
    var testsMoreThanVersions: Bool
}

/// A compiled part of a URL or path template.
package struct CompiledTemplatePart: BitwiseCopyable {
    enum Kind: UInt8 { case bytes, capture, query, segmentEnd }
    var kind: Kind
    var bytes: ByteView
    var name: Int32
    var query: CompiledQueryName
}

/// A compiled target: the destination of a request.
package struct CompiledTarget: BitwiseCopyable {
    /// The kind of a target.
    package enum Kind: UInt8, BitwiseCopyable { case path, captured, external }
    enum Parents: UInt8 { case none, initial, route, list }
    /// The kind of the target.
    package var kind: Kind
    /// The mode, or `unspecified` for the default.
    var mode: RequestView.Mode
    var dismissModals: Bool
    /// The entries of the path, preceded by their static parents.
    var entries: UnsafeBufferPointer<CompiledEntry>
    /// The number of the name of the captured path.
    var name: Int32
    /// The parts of the URL of an external target.
    package var template: UnsafeBufferPointer<CompiledTemplatePart>
    /// The parents that depend on the path or the device.
    var parents: Parents
    var parentRoute: Int32
    /// The members from `outcome` through `stack`, if no part of the stack depends on the device.
    var program: Program
    var isStatic: Bool
    var dependsOnDevice: Bool
    var isGuarded: Bool
    /// A Boolean value that indicates whether `program` and `required` are sufficient: the target does not depend on
    /// the device, a guard, or a parent route.
    var isSelfContained = false
    /// The required fields of its entries, in order.
    var required = UnsafeBufferPointer<Int32>(start: nil, count: 0)
}

/// A compiled variant.
package struct CompiledVariant: BitwiseCopyable {
    var condition: CompiledCondition
    var isConditional: Bool
    /// The variant's target.
    package var target: CompiledTarget
    var notice: CompiledNotice
    /// The member `,"variant":N`, or empty.
    var json: ByteView
}

/// A compiled notice: a path to show beside the result.
struct CompiledNotice {
    /// The canonical path, or empty for none.
    var path: ByteView
    var screens: UnsafeBufferPointer<Int32>
}

/// A compiled route.
package struct CompiledRoute: BitwiseCopyable {
    /// The action of a route for a request that selects it.
    package enum Action: UInt8, BitwiseCopyable {
        case variants, redirectRoute, redirectTemplate, excludeExternal, excludeNone, excludeReject
    }
    enum Unsupported: UInt8 { case fallback, truncate, target }
    var id: ByteView
    /// The members `"table":"…","route":"…"`.
    var head: ByteView
    /// The action for a request that selects the route.
    package var action: Action
    var redirect: Int32
    var template: UnsafeBufferPointer<CompiledTemplatePart>
    /// The variants of the route, in the order of the table.
    package var variants: UnsafeBufferPointer<CompiledVariant>
    /// The bindings of the route.
    package var bindings: UnsafeBufferPointer<CompiledBinding>
    /// A Boolean value that indicates whether the route, or a route that supplies its parent entries, binds fields from
    /// the payload.
    var bindsPayload: Bool
    /// A Boolean value that indicates whether an invalid value is dropped if its field is not required (`onInvalid:
    /// drop`).
    package var drops: Bool
    var requireAll: Bool
    /// The policy for a captured path with an unknown screen.
    package var unknownScreen: TableSource.Route.UnknownScreen
    var unsupported: Unsupported
    var unsupportedTarget: Ref<CompiledTarget>?
    /// The index of the first pattern, or -1 for a route that can only be requested by its id.
    package var firstPattern: Int32
}

/// A compiled guard.
package struct CompiledGuard: BitwiseCopyable {
    /// The name of the guard.
    package var name: ByteView
    /// The claim that satisfies the guard.
    package var claim: ByteView
    var target: CompiledTarget
    var resumes: Bool
    var ttlSeconds: Int64
    var once: Bool
}

/// A compiled fallback rule for one reason.
struct CompiledFallback {
    var outcome: TableSource.FallbackRule.Outcome
    var target: Ref<CompiledTarget>?
}

/// A compiled table.
package struct CompiledTableData: BitwiseCopyable {
    /// A number that is unique to the table within the process.
    var serial: UInt64
    /// The member `"table":"id@version+hash"`.
    var head: ByteView
    var blocks: UnsafeBufferPointer<CompiledLinkBlock>
    var schemes: UnsafeBufferPointer<CompiledScheme>
    /// The index of the `*` block, or -1.
    var otherSchemes: Int32
    var foldsCase: Bool
    var maxBytes: Int
    var maxSegments: Int
    var maxQueryItems: Int
    var usesAppVersion: Bool
    var usesOSVersion: Bool
    var hasSingleSlots: Bool
    var literals: LiteralTable
    var trie: CompiledTrie
    /// The patterns, by their number.
    package var patterns: UnsafePointer<CompiledPattern>
    /// The routes, in the order of the table.
    package var routes: UnsafeBufferPointer<CompiledRoute>
    /// The fields of all models.
    package var fields: UnsafeBufferPointer<CompiledField>
    /// The screens of all coordinators.
    package var screens: UnsafeBufferPointer<CompiledScreen>
    /// The coordinators, in the order of the table.
    package var coordinators: UnsafeBufferPointer<CompiledCoordinator>
    /// The guards, in the order of the table.
    package var guards: UnsafeBufferPointer<CompiledGuard>
    var capabilities: UnsafeBufferPointer<CompiledCapability>
    var externalSchemes: UnsafeBufferPointer<ByteView>
    var externalHosts: UnsafeBufferPointer<CompiledHostRule>
    /// One rule for each reason, in the order of `Reason.allCases`.
    var fallbacks: UnsafeBufferPointer<CompiledFallback>
    /// The numbers of the pointers that find a link, in the order of the table.
    var payloadLinks: UnsafeBufferPointer<Int32>
    /// The numbers of the pointers that find a route and its parameters, or -1.
    var payloadRoute: Int32
    var payloadParams: Int32
    /// The target of `path` requests.
    package var plainTarget: Ref<CompiledTarget>
    /// The number of scopes that a stack can use at once: 1 plus the length of the longest chain of parent routes.
    var scopes: Int
    /// The number of values that are kept for several bindings.
    var readings: Int
    /// The names of captures and rewrites, by number.
    package var names: UnsafeBufferPointer<ByteView>
}

/// An unowned reference to a compiled table, which avoids reference counting for each record.
///
/// The caller must keep the table, or the set that contains it, alive as long as it uses the handle.
package struct TableHandle: BitwiseCopyable, Equatable, @unchecked Sendable {
    // `@unchecked Sendable` is safe because the pointers refer to memory that never changes.
    let data: Ref<CompiledTableData>
    /// The pointers to read in a payload, of this table or of all tables that are served with it.
    let pointers: Ref<PointerTrie>
    /// The positions of the table's own pointers among them.
    let numbers: UnsafePointer<Int32>?

    /// Returns a Boolean value that indicates whether both handles refer to the same table.
    package static func == (a: TableHandle, b: TableHandle) -> Bool { a.data.pointer == b.data.pointer }
}

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

/// The memory of a compiled table: plain values and bytes that never move, and never change after compilation.
///
/// The resolver reads them through unowned pointers, without reference counting or bounds checks for each record.
package final class TableStorage {
    private var blocks: [UnsafeMutableRawPointer] = []

    /// Creates empty storage.
    package init() {}

    deinit { for block in blocks { block.deallocate() } }

    /// Copies values into the storage.
    package func store<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafeBufferPointer<Value> {
        if values.isEmpty { return UnsafeBufferPointer(start: nil, count: 0) }
        let raw = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<Value>.stride * values.count, alignment: MemoryLayout<Value>.alignment)
        blocks.append(raw)
        let typed = raw.bindMemory(to: Value.self, capacity: values.count)
        typed.initialize(from: values, count: values.count)
        return UnsafeBufferPointer(start: typed, count: values.count)
    }

    /// Copies bytes into the storage, followed by padding that allows copying in whole words.
    func view(_ bytes: [UInt8]) -> ByteView {
        let padding = [UInt8](repeating: 0, count: OutputArena.padding)
        return ByteView(start: ByteView(store(bytes + padding)).start, count: bytes.count)
    }

    /// Copies a text into the storage as UTF-8.
    func view(_ text: String) -> ByteView { view([UInt8](text.utf8)) }
}

/// The pointers of several tables as one trie, so that a payload is read once for all of them.
final class SharedPointers: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the storage is written only during initialization.

    private let storage: TableStorage
    private let trie: Ref<PointerTrie>
    private let numbers: [UnsafePointer<Int32>?]

    /// Joins the pointers of the tables.
    init(_ sources: [TableSource]) {
        let storage = TableStorage()
        var builder = PointerTrieBuilder()
        var numbers: [[Int32]] = []
        for source in sources { numbers.append(source.payloadPointers.map { builder.number(of: $0) }) }
        trie = builder.store(in: storage)
        self.numbers = numbers.map { storage.store($0).baseAddress }
        self.storage = storage
    }

    /// Returns a handle of the table at `index` with the pointers of all tables.
    func handle(_ table: CompiledTable, at index: Int) -> TableHandle {
        TableHandle(data: table.data, pointers: trie, numbers: numbers[index])
    }
}
