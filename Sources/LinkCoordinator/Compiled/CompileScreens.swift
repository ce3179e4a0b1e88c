internal import ByteStorage
internal import StrictJSON

// Compiles fields, screens, and coordinators.
extension TableCompiler {
    mutating func compileFields() {
        for (index, model) in source.models.enumerated() {
            modelNumbers[model.name.value] = index
            for field in model.fields {
                fieldNumbers["\(model.name.value).\(field.name.value)"] = fields.count
                fields.append(compile(field, of: model.name.value))
                var type = field.type
                if case .list(let item, _, _) = type { type = item }
                let known = typeNumbers[type] ?? typeNumbers.count
                typeNumbers[type] = known
                fieldTypes.append(known)
            }
        }
    }

    private func compile(_ field: TableSource.Field, of model: String) -> CompiledField {
        var compiled = CompiledField(
            kind: .string, item: .string, min: .min, max: .max, minCount: 0, maxCount: 0,
            values: UnsafeBufferPointer(start: nil, count: 0), hosts: UnsafeBufferPointer(start: nil, count: 0),
            absence: .required, absentJSON: storage.view("null"), absentText: .empty, modelName: storage.view(model),
            name: storage.view(field.name.value))
        compiled.kind = set(field.type, in: &compiled)
        if case .list(let element, let minCount, let maxCount) = field.type {
            compiled.item = set(element, in: &compiled)
            compiled.minCount = Int32(minCount)
            compiled.maxCount = Int32(maxCount)
        }
        switch field.absence {
        case .required: compiled.absence = .required
        case .null: compiled.absence = .null
        case .emptyList:
            compiled.absence = .emptyList
            compiled.absentJSON = storage.view("[]")
        case .value(let text):
            compiled.absence = .value
            compiled.absentText = storage.view(text)
            let isPlain = [.int, .double, .decimal, .bool].contains(compiled.kind)
            compiled.absentJSON = storage.view(isPlain ? text : ProgramBuilder.quoted(text))
        }
        return compiled
    }

    /// Sets the bounds of a type and returns its kind.
    private func set(_ type: FieldType, in compiled: inout CompiledField) -> CompiledField.Kind {
        switch type {
        case .uuid: return .uuid
        case .int(let min, let max):
            (compiled.min, compiled.max) = (min, max)
            return .int
        case .string(let min, let max):
            (compiled.min, compiled.max) = (Int64(min), Int64(max))
            return .string
        case .bool: return .bool
        case .double: return .double
        case .decimal(let min, let max):
            if min != nil || max != nil {
                compiled.values = storage.store([storage.view(min ?? ""), storage.view(max ?? "")])
            }
            return .decimal
        case .date: return .date
        case .dateTime: return .dateTime
        case .enumeration(let values):
            compiled.values = storage.store(values.map(storage.view))
            return .enumeration
        case .url(let hosts):
            compiled.hosts = storage.store(hosts.map { self.compile($0) })
            return .url
        case .list: return .list
        }
    }

    /// Returns a Boolean value that indicates whether the canonical text of a field is never empty.
    private func isNeverEmpty(_ field: Int) -> Bool {
        let compiled = fields[field]
        if compiled.absence == .null { return false }
        if compiled.absence == .value && compiled.absentText.isEmpty { return false }
        switch compiled.kind {
        case .string: return compiled.min > 0
        case .enumeration: return !compiled.values.contains { $0.isEmpty }
        default: return true
        }
    }

    mutating func compileScreens() {
        for (index, coordinator) in source.coordinators.enumerated() {
            literals.append(
                LiteralTable.Entry(
                    node: LiteralTable.coordinators, text: [UInt8](coordinator.name.value.utf8), child: UInt32(index)))
            for screen in coordinator.screens {
                let number = screens.count
                screenNumbers["\(coordinator.name.value)/\(screen.name.value)"] = number
                literals.append(
                    LiteralTable.Entry(
                        node: LiteralTable.screens(of: index), text: [UInt8](screen.name.value.utf8),
                        child: UInt32(number)))
                screens.append(compile(screen, number: number, coordinator: index))
            }
        }
        for coordinator in source.coordinators { coordinators.append(compile(coordinator)) }
        compileAncestors()
    }

    /// Stores, for each coordinator, the initial screens from the outermost parent down to its own.
    ///
    /// The entries of a child begin with the entries of its parent, so each chain of parents is stored once.
    private mutating func compileAncestors() {
        let above = TableNames(source).initialAbove
        let hasInitial = coordinators.map { $0.initial >= 0 }
        let ends = coordinators.indices.filter { hasInitial[$0] }
        let parents = Set(ends.compactMap { above[$0] })
        var known: [Int: UnsafeBufferPointer<CompiledEntry>] = [:]
        // Coordinators in a parent cycle, which only an unchecked table can have, are not the end of any chain.
        for end in ends.filter({ !parents.contains($0) }) + ends where known[end] == nil {
            var chain = [end]
            var passed = Set(chain)
            while let next = above[chain[chain.count - 1]], passed.insert(next).inserted { chain.append(next) }
            let entries = storage.store(
                chain.reversed().map { one in
                    var entry = screens[Int(coordinators[one].initial)].entry
                    entry.isParent = true
                    return entry
                })
            for (depth, one) in chain.enumerated() where known[one] == nil {
                known[one] = UnsafeBufferPointer(rebasing: entries.prefix(chain.count - depth))
            }
        }
        for index in coordinators.indices {
            guard let own = hasInitial[index] ? index : above[index], let entries = known[own] else { continue }
            coordinators[index].ancestors = entries
        }
    }

    private func compile(_ coordinator: TableSource.Coordinator) -> CompiledCoordinator {
        let name = coordinator.name.value
        return CompiledCoordinator(
            name: storage.view(name),
            initial: coordinator.initial.flatMap { screenNumbers["\(name)/\($0.value)"] }.map { Int32($0) } ?? -1,
            parent: coordinator.parent.flatMap { coordinatorNumbers[$0.value] }.map { Int32($0) } ?? -1,
            guarding: coordinator.guarding.flatMap { guardNumbers[$0.value] } ?? -1,
            singleSlot: coordinator.singleSlot, ancestors: UnsafeBufferPointer(start: nil, count: 0))
    }

    private func compile(_ screen: TableSource.Screen, number: Int, coordinator: Int) -> CompiledScreen {
        let needed = screen.needs.flatMap { need in fieldsOf(need.value) }
        return CompiledScreen(
            coordinator: Int32(coordinator), name: storage.view(screen.name.value),
            fields: storage.store(needed.map { Int32($0) }),
            required: storage.store(needed.filter { fields[$0].absence == .required }.map { Int32($0) }),
            dependsOnDevice: screen.since != nil || screen.until != nil || !screen.requires.isEmpty,
            since: screen.since.flatMap(version), until: screen.until.flatMap(version),
            requires: storage.store(screen.requires.compactMap { capabilityNumbers[$0.value] }), nav: screen.nav,
            entry: entry(screen, number: number, coordinator: coordinator, present: screen.defaultPresentation))
    }

    private func fieldsOf(_ model: String) -> [Int] {
        modelNumbers[model].map { number in
            source.models[number].fields.compactMap { fieldNumbers["\(model).\($0.name.value)"] }
        } ?? []
    }

    /// Returns an entry with the given presentation, and the program that writes it.
    func entry(
        _ screen: TableSource.Screen, number: Int, coordinator: Int, present: Presentation
    ) -> CompiledEntry {
        CompiledEntry(
            screen: Int32(number), present: present, scope: 0, isParent: false,
            program: program(screen, coordinator: source.coordinators[coordinator].name.value, present: present)
                .store(in: storage))
    }

    /// Returns the program of an entry, with its members in their published order.
    ///
    /// See DecisionReference, "Stack entries".
    func program(_ screen: TableSource.Screen, coordinator: String, present: Presentation) -> ProgramBuilder {
        var builder = ProgramBuilder()
        builder.add("{\"coordinator\":")
        builder.add(string: coordinator)
        builder.add(",\"screen\":")
        builder.add(string: screen.name.value)
        if let view = screen.view {
            builder.add(",\"view\":")
            builder.add(string: view.value)
        }
        builder.add(",\"present\":\"\(present.rawValue)\"")
        if screen.nav { builder.add(",\"nav\":true") }
        if let identity = screen.identity {
            builder.add(
                identity: identity.parts.compactMap { part in
                    switch part {
                    case .text(let text): return .text(text)
                    case .field(let model, let field):
                        return fieldNumbers["\(model).\(field)"].map { .field($0, neverEmpty: isNeverEmpty($0)) }
                    }
                })
        }
        if !screen.needs.isEmpty {
            for (index, need) in screen.needs.enumerated() {
                builder.add(index == 0 ? ",\"data\":{" : ",")
                builder.add(string: need.value)
                builder.add(":{")
                for (fieldIndex, field) in fieldsOf(need.value).enumerated() {
                    if fieldIndex > 0 { builder.add(",") }
                    builder.add(string: fields[field].name.string)
                    builder.add(":")
                    builder.add(value: field)
                }
                builder.add("}")
            }
            builder.add("}")
        }
        builder.add("}")
        return builder
    }

    func version(_ text: VersionText) -> CompiledVersion? {
        Version(storage.view(text.bytes)).map(CompiledVersion.init)
    }

    func compile(_ capability: TableSource.Capability) -> CompiledCapability {
        CompiledCapability(
            name: storage.view(capability.name.value), minApp: capability.minApp.flatMap(version),
            minOS: capability.minOS.flatMap(version),
            platforms: storage.store((capability.platforms ?? []).map(storage.view)),
            testsPlatform: capability.platforms != nil, listed: capability.listed)
    }
}

/// The part of a request and the type that a binding reads.
///
/// Bindings with equal keys have equal values.
struct ReadingKey: Hashable {
    private let source: CompiledBinding.Source
    private let name: Int32
    private let query: [UInt8]
    private let pointerIndex: Int32
    private let type: Int
    /// A Boolean value that indicates whether all items are read, each as the type.
    let isList: Bool
    /// A Boolean value that indicates whether a missing value is searched for under a damaged name.
    private let isRequired: Bool

    /// Creates a key.
    ///
    /// `type` is the number of the type.
    init(_ binding: CompiledBinding, _ type: Int, isList: Bool, isRequired: Bool) {
        source = binding.source
        name = binding.name
        query = binding.source == .query ? binding.query.text.array : []
        pointerIndex = binding.pointerIndex
        self.type = type
        self.isList = isList
        self.isRequired = isRequired
    }
}

/// Builds the program of an entry or a stack.
///
/// Adjacent constant parts are merged.
struct ProgramBuilder {
    private enum Step {
        case bytes([UInt8])
        case value(Int)
        case text(Int)
        case identityStart([UInt8])
        case identityEnd([UInt8])
    }

    private var steps: [Step] = []

    /// Adds constant bytes.
    mutating func add(_ text: String) {
        let bytes = [UInt8](text.utf8)
        if case .bytes(let before)? = steps.last {
            steps[steps.count - 1] = .bytes(before + bytes)
        } else {
            steps.append(.bytes(bytes))
        }
    }

    /// Adds a JSON string with its quotes.
    mutating func add(string: String) { add(Self.quoted(string)) }

    /// Adds the JSON of a field's value.
    mutating func add(value field: Int) { steps.append(.value(field)) }

    /// Adds another program.
    mutating func add(_ other: ProgramBuilder) {
        for step in other.steps {
            if case .bytes(let bytes) = step {
                add(String(decoding: bytes, as: UTF8.self))
            } else {
                steps.append(step)
            }
        }
    }

    /// Adds the member `identity` of a template over fields.
    ///
    /// The member is omitted if its text is empty.
    mutating func add(identity parts: [IdentityPart]) {
        let start = ",\"identity\":\""
        let neverEmpty = parts.contains { part in
            switch part {
            case .text(let text): !text.isEmpty
            case .field(_, let neverEmpty): neverEmpty
            }
        }
        if neverEmpty { add(start) } else { steps.append(.identityStart([UInt8](start.utf8))) }
        for part in parts {
            switch part {
            case .text(let text): add(String(Self.quoted(text).dropFirst().dropLast()))
            case .field(let field, _): steps.append(.text(field))
            }
        }
        if neverEmpty { add("\"") } else { steps.append(.identityEnd([UInt8(ascii: "\"")])) }
    }

    /// A part of an identity template.
    enum IdentityPart {
        case text(String)
        case field(Int, neverEmpty: Bool)
    }

    /// Compiles the program.
    func store(in storage: TableStorage) -> Program {
        var constant = 0
        let ops = steps.map { step in
            switch step {
            case .bytes(let bytes):
                constant += bytes.count
                return Op(kind: .bytes, field: 0, bytes: storage.view(bytes))
            case .value(let field): return Op(kind: .value, field: Int32(field), bytes: .empty)
            case .text(let field): return Op(kind: .text, field: Int32(field), bytes: .empty)
            case .identityStart(let bytes):
                constant += bytes.count
                return Op(kind: .identityStart, field: 0, bytes: storage.view(bytes))
            case .identityEnd(let bytes):
                constant += bytes.count
                return Op(kind: .identityEnd, field: 0, bytes: storage.view(bytes))
            }
        }
        return Program(ops: storage.store(ops), constantBytes: constant)
    }

    /// Returns a text as a JSON string.
    static func quoted(_ text: String) -> String {
        // Checked names need no escapes. The names of a refused table, which can still be explained, may be any text.
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        if isPlain { return "\"" + text + "\"" }
        return OutputArena.text { $0.appendString(text) }
    }
}
