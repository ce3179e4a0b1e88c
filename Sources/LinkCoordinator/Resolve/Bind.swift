internal import ByteStorage

// Phase 5: binds values of the link to the fields of the models that the stack needs.
// See RouteTableReference, "Bindings".
extension Resolver {
    /// Binds the values of a composed stack and checks it.
    ///
    /// Returns the composition without the parents that lack data.
    @inline(__always)
    mutating func bind(_ composition: Composition, of route: Ref<CompiledRoute>) throws(Rejection) -> Composition {
        try bindRoute(route)
        if composition.usesProgram && !values.lacksAny(composition.target.required) { return composition }
        return try bindOthers(composition)
    }

    /// Binds the values of parent routes and checks the data and presentation of all screens.
    private mutating func bindOthers(_ composition: Composition) throws(Rejection) -> Composition {
        try bindParents()
        let bound = try requireData(of: composition)
        try checkPresentation(bound)
        return bound
    }

    /// Reads every bound value of the route.
    ///
    /// A value that is present must have the type of its field, even if no screen needs it.
    package mutating func bindRoute(_ route: Ref<CompiledRoute>) throws(Rejection) {
        if shared.isBound { return try replayBinding() }
        for index in 0..<route.bindings.count {
            let binding = route.bindings.at(index)
            let field = Int(binding.field)
            if bind(binding, scope: 0) { continue }
            if record.isBroken { break }
            let type = tableData.fields.at(field)
            if route.drops && type.absence != .required {
                values[field] = BoundValue(stamp: values.stamp)
                notes.append(Note("dropped:", type.modelName, ".", type.name))
                continue
            }
            throw Rejection(.paramInvalid, type.modelName, dot: type.name)
        }
        if record.isBroken { throw Rejection(.internalError) }
        if route.requireAll { try requireAll(route) }
    }

    private mutating func requireAll(_ route: Ref<CompiledRoute>) throws(Rejection) {
        for binding in route.bindings {
            let field = tableData.fields.at(Int(binding.field))
            if field.absence == .required && values.isMissing(Int(binding.field), scope: 0) {
                throw Rejection(.paramMissing, field.modelName, dot: field.name)
            }
        }
    }

    /// Returns a Boolean value that indicates whether a field has no value in a scope.
    package mutating func isMissing(_ field: Int, scope: UInt8) -> Bool { values.isMissing(field, scope: scope) }

    /// Reads one value.
    ///
    /// Returns `false` if the value is present but does not have the type of its field.
    @inline(__always)
    package mutating func bind(_ binding: Ref<CompiledBinding>, scope: UInt8) -> Bool {
        let field = tableData.fields.at(Int(binding.field))
        if field.kind == .list { return bindList(binding, field, scope: scope) }
        if binding.trusted, let text = captureSlice(binding.name) {
            let value = values.base + values.slot(Int(binding.field), scope: scope)
            value.pointee.stamp = values.stamp(of: scope)
            value.pointee.state = field.kind == .uuid ? .uuid : .plain
            value.pointee.view = text
            return true
        }
        return binding.reading < 0 ? bindSingle(binding, scope: scope) : bindAgain(binding, scope: scope)
    }

    /// Reads the value of a field that is not a list.
    @inline(__always)
    mutating func bindSingle(_ binding: Ref<CompiledBinding>, scope: UInt8) -> Bool {
        let field = tableData.fields.at(Int(binding.field))
        let slot = values.slot(Int(binding.field), scope: scope)
        let value = values.base + slot
        value.pointee.stamp = values.stamp(of: scope)
        value.pointee.state = .missing
        switch source(binding) {
        case .absent, .null:
            repairMissing(binding, field, slot)
            return true
        case .invalid: return repairs(binding, field, slot)
        case .text(let text):
            let (state, view) = canonicalForm(text, field, kind: field.kind)
            if state == .missing { return repairs(binding, field, slot) }
            value.pointee.state = state
            value.pointee.view = view
            return true
        }
    }

    /// Searches for a required value under a damaged name.
    ///
    /// A value that remains absent is reported when the stack is checked.
    @inline(__always)
    private mutating func repairMissing(_ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ slot: Int) {
        if field.absence == .required { _ = repairs(binding, field, slot) }
    }

    private mutating func repairs(
        _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ slot: Int
    ) -> Bool {
        guard link.block.repair, binding.source == .query else { return false }
        return repair(binding, field, slot)
    }

    /// Returns the value at the source of a binding.
    package mutating func source(_ binding: Ref<CompiledBinding>) -> Found {
        switch binding.source {
        case .path: return (capture(binding.name) ?? param(insteadOfCapture: binding.name)).map { .text($0) } ?? .absent
        case .query: return find(binding.ref(\.query))
        case .rewrite: return rewritten(binding.name).map { .text($0) } ?? .absent
        case .payload: return payloadValue(binding.pointerIndex)
        case .fragment:
            guard let fragment = link.fragment else { return .absent }
            return fragmentText(fragment)
        case .constant: return .text(binding.constant)
        }
    }

    private mutating func fragmentText(_ fragment: ByteView) -> Found {
        texts.begin()
        let decodes = PercentDecoding.decode(fragment, plusIsSpace: false, into: &texts.arena)
        let text = texts.finish()
        guard decodes, PercentDecoding.isClean(text, invisiblesAllowed: true) else { return .invalid }
        return .text(texts.normalForm(text))
    }

    /// Returns the canonical form of a text under a field's type, or nil.
    mutating func canonical(_ text: ByteView, _ field: Ref<CompiledField>, kind: CompiledField.Kind) -> BoundValue? {
        let (state, view) = canonicalForm(text, field, kind: kind)
        return state == .missing ? nil : BoundValue(state: state, view: view)
    }

    /// Returns the canonical form as `canonical` does, with the state `missing` for a text that is not of the type.
    ///
    /// A tuple is returned in registers, unlike a `BoundValue`.
    @inline(__always)
    private mutating func canonicalForm(
        _ text: ByteView, _ field: Ref<CompiledField>, kind: CompiledField.Kind
    ) -> (state: BoundValue.State, view: ByteView) {
        let isValid: Bool
        var state = BoundValue.State.text
        switch kind {
        case .uuid:
            isValid = TextForms.isUUID(text)
            state = .uuid
        case .int:
            state = .plain
            isValid = TextForms.integer(text).map { $0 >= field.min && $0 <= field.max } ?? false
        case .string: isValid = text.count >= Int(field.min) && text.count <= Int(field.max)
        case .bool:
            guard let value = TextForms.boolean(text) else { return (.missing, text) }
            return (.plain, value ? ByteView("true") : ByteView("false"))
        case .double: return TextForms.double(text).map { (.plain, $0) } ?? (.missing, text)
        case .date: isValid = TextForms.isDate(text)
        case .enumeration: isValid = field.values.contains(where: { $0 == text })
        case .url: isValid = isURL(text, field.hosts)
        case .list: isValid = false
        case .decimal: return decimalForm(text, field)
        case .dateTime: return dateTimeForm(text)
        }
        return (isValid ? state : .missing, text)
    }

    /// Returns a Boolean value that indicates whether a text is an `https` URL with a listed host, and without userinfo
    /// and spaces.
    private mutating func isURL(_ text: ByteView, _ hosts: UnsafeBufferPointer<CompiledHostRule>) -> Bool {
        guard text.count <= FieldType.maxTextBytes, let url = WebURL(text), equalsFolded(url.scheme, "https"),
            let host = WebURL.normalHost(url.host), !host.isEmpty
        else { return false }
        return host.withUnsafeBufferPointer { bytes in
            hosts.contains { $0.matches(host: ByteView(bytes), port: url.port) }
        }
    }

    /// Reads a list: all items of the query, a tail, or an array in the payload, except nulls.
    private mutating func bindList(
        _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, scope: UInt8
    ) -> Bool {
        let slot = values.slot(Int(binding.field), scope: scope)
        let read = readList(binding, field)
        values[slot] = BoundValue(stamp: values.stamp(of: scope))
        if read.isValid && read.count == 0 {
            repairMissing(binding, field, slot)
            return true
        }
        guard read.isValid, read.count >= field.minCount, read.count <= field.maxCount else {
            return repairs(binding, field, slot)
        }
        values[slot] = BoundValue(stamp: values.stamp(of: scope), state: .list, first: read.first, count: read.count)
        return true
    }

    /// Adds the items at the source of a binding to the current list.
    ///
    /// Returns `false` if an item is invalid.
    mutating func addItems(_ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>) -> Bool {
        switch binding.source {
        case .query: return addQueryItems(binding.ref(\.query), field)
        case .path:
            guard let start = tail(binding.name) else {
                if let text = capture(binding.name) { return addItem(text, field) }
                return addParamItems(insteadOfCapture: binding.name, field)
            }
            for index in start..<max(start, path.count) where !addItem(path[index].text, field) { return false }
            return true
        case .payload: return addPayloadItems(binding.pointerIndex, field)
        case .rewrite, .fragment, .constant:
            switch source(binding) {
            case .text(let text): return addItem(text, field)
            case .invalid: return false
            case .absent, .null: return true
            }
        }
    }

    /// Adds all values of a name except nulls, regardless of the rule for duplicates.
    ///
    /// Returns `false` if a value is invalid.
    mutating func addQueryItems(_ name: Ref<CompiledQueryName>, _ field: Ref<CompiledField>) -> Bool {
        if usesParams { return addParamItems(name, field) }
        query.split(&texts)
        var index = query.firstItem(name)
        while index >= 0 {
            if query.items[index].hasValue {
                guard let text = query.text(ofItem: index, &texts), addItem(text, field) else { return false }
            }
            // In a flat list, only the item after the first occurrence counts, even for a list.
            if link.block.flatten { break }
            index = query.nextItem(after: index, name)
        }
        return true
    }

    /// Adds an item to the current list.
    ///
    /// Returns `false` if the item does not have the list's type, or if the list would exceed the maximum length of any
    /// list. In both cases, the remaining items need not be read.
    mutating func addItem(_ text: ByteView, _ field: Ref<CompiledField>) -> Bool {
        guard values.items.count &- values.listStart < FieldType.maxListCount,
            let value = canonical(text, field, kind: field.item)
        else { return false }
        values.items.append(value)
        return true
    }

    /// Checks that the screens of the stack have their required data.
    ///
    /// A parent without its data is removed. Any other such entry fails the request.
    package mutating func requireData(of composition: Composition) throws(Rejection) -> Composition {
        if composition.target.isSelfContained && composition.isStatic {
            if !values.lacksAny(composition.target.required) { return composition }
            makeStack(of: composition)
        }
        var bound = composition
        if try dropParents() { bound.isStatic = false }
        return bound
    }

    /// Removes the parents without their required data.
    ///
    /// Returns a Boolean value that indicates whether there were any.
    private mutating func dropParents() throws(Rejection) -> Bool {
        let before = stack.count
        var index = 0
        while index < stack.count {
            let entry = stack[index]
            let screen = tableData.screens.at(Int(entry.screen))
            guard let lacking = lackingField(of: screen, scope: entry.scope) else {
                index &+= 1
                continue
            }
            let field = tableData.fields.at(lacking)
            guard entry.isParent else { throw Rejection(.paramMissing, field.modelName, dot: field.name) }
            let (coordinator, name) = names(of: entry)
            notes.append(Note("parent dropped:", coordinator, ".", name))
            for later in index..<stack.count - 1 { stack[later] = stack[later + 1] }
            stack.truncate(to: stack.count - 1)
        }
        if stack.count > StaticStack.maxEntries { throw Rejection(.budget, "stack") }
        return stack.count < before
    }

    /// Returns the index of a field without which a screen cannot be shown, or -1.
    ///
    /// It is a required field without a value, or an invalid field of a parent route.
    private mutating func lackingField(of screen: Ref<CompiledScreen>, scope: UInt8) -> Int? {
        for field in screen.required where values.isMissing(Int(field), scope: scope) { return Int(field) }
        if scope == 0 { return nil }
        for field in screen.fields where values.isInvalid(Int(field), scope: scope) { return Int(field) }
        return nil
    }

    // The canonical forms of a `decimal` and a `datetime`.
    //
    // They are never inlined, so that the code that binds the other types stays small.

    /// Returns the canonical form of a `decimal`, with the state `missing` for a text that is not of the type.
    @inline(never)
    mutating func decimalForm(
        _ text: ByteView, _ field: Ref<CompiledField>
    ) -> (state: BoundValue.State, view: ByteView) {
        guard let number = TextForms.decimal(text) else { return (.missing, text) }
        let bounds = field.values
        if bounds.count == 2, !FieldType.isDecimal(number, from: bounds[0], to: bounds[1]) { return (.missing, text) }
        return (.plain, number)
    }

    /// Returns the canonical form of a `datetime`, with the state `missing` for a text that is not of the type.
    ///
    /// The text of a conversion is stored with the decoded texts of the request, so it is valid as long as they are.
    @inline(never)
    mutating func dateTimeForm(_ text: ByteView) -> (state: BoundValue.State, view: ByteView) {
        guard let time = TextForms.dateTime(text) else { return (.missing, text) }
        if time.isCanonical { return (.text, text) }
        texts.begin()
        time.append(to: &texts.arena)
        return (.text, texts.finish())
    }

    // Binds values that are read once for a request.

    /// Binds a value that several bindings of the route read in the same way.
    @inline(never)
    mutating func bindAgain(_ binding: Ref<CompiledBinding>, scope: UInt8) -> Bool {
        let target = values.slot(Int(binding.field), scope: scope)
        let index = readings.index(of: binding.reading, repair: nil)
        if readings.all[index].stamp != readings.stamp {
            let notesBefore = notes.count
            let isValid = bindSingle(binding, scope: scope)
            var reading = Reading(stamp: readings.stamp, isValid: isValid, value: values[target])
            if notes.count > notesBefore { reading.repair = readings.lastRepair.rawValue &+ 1 }
            readings.all[index] = reading
            return isValid
        }
        let reading = readings.all[index]
        values[target] = reading.value
        values[target].stamp = values.stamp(of: scope)
        if reading.repair > 0, let repair = Repair(rawValue: reading.repair &- 1) { note(repair, binding) }
        return reading.isValid
    }

    /// Reads all items at the source of a binding, each once.
    ///
    /// If the list is too long or an item has the wrong type, the result has no items.
    mutating func readList(
        _ binding: Ref<CompiledBinding>, _ field: Ref<CompiledField>, _ repair: Repair? = nil
    ) -> Reading {
        // A constant is read in place.
        let index = binding.reading < 0 ? -1 : readings.index(of: binding.reading, repair: repair)
        if index >= 0 && readings.all[index].stamp == readings.stamp { return readings.all[index] }
        values.listStart = values.items.count
        let isValid = addItems(binding, field)
        if !isValid { values.items.truncate(to: values.listStart) }
        let reading = Reading(
            stamp: readings.stamp, isValid: isValid, first: Int32(truncatingIfNeeded: values.listStart),
            count: Int32(truncatingIfNeeded: values.items.count &- values.listStart))
        if index >= 0 { readings.all[index] = reading }
        return reading
    }
}

/// A bound value.
struct BoundValue {
    enum State: UInt8 {
        /// There is no value.
        case missing
        /// A parent route binds a value of the wrong type.
        case invalid
        case text, plain, uuid, list

        /// A Boolean value that indicates whether there is no valid value.
        var isAbsent: Bool {
            @inline(__always)
            get { rawValue <= State.invalid.rawValue }
        }
    }
    /// The stamp of the resolution.
    ///
    /// Values with an older stamp are missing.
    var stamp: UInt32 = 0
    var state = State.missing
    /// The text, or the JSON of a number or Boolean value.
    var view: ByteView = .empty
    /// The position and number of the items of a list in `items`.
    var first: Int32 = 0
    var count: Int32 = 0
}

/// The result of phase 5: the values of a table's fields, in separate scopes for the route and its parent routes.
///
/// A value belongs to the current request, or to the current device, if it has that stamp. No value has to be removed
/// for another one.
package struct BoundValues: ~Copyable {
    private var values = Growable<BoundValue>(capacity: 64)
    /// The items of lists.
    var items = Growable<BoundValue>(capacity: 16)
    /// The position in `items` at which the current list begins.
    var listStart = 0
    /// The number of fields in a scope.
    private var fieldCount = 0
    /// The stamp of values that were bound for this request, and the stamp of values that were bound only for this
    /// device.
    private(set) var stamp: UInt32 = 0
    private var deviceStamp: UInt32 = 0
    /// The last assigned stamp.
    private var lastStamp: UInt32 = 0

    /// Begins a request for a table with this number of fields.
    ///
    /// Returns `false` if the stamps begin again. Results with old stamps must then be removed.
    @inline(__always)
    mutating func start(fields: Int, scopes: Int) -> Bool {
        fieldCount = fields
        lastStamp &+= 1
        let isNew = lastStamp != 0
        if !isNew { clear() }
        stamp = lastStamp
        deviceStamp = lastStamp
        items.removeAll()
        let needed = fields &* scopes
        while values.count < needed { values.append(BoundValue()) }
        return isNew
    }

    @inline(never)
    private mutating func clear() {
        for index in 0..<values.count { values[index] = BoundValue() }
        lastStamp = 1
    }

    /// A Boolean value that indicates whether there are no stamps for another device.
    var needsRestart: Bool { mutating get { lastStamp >= .max - 2 } }

    /// Begins another device of the request, and keeps the first items.
    mutating func startDevice(keepingItems count: Int) {
        lastStamp &+= 1
        deviceStamp = lastStamp
        items.truncate(to: count)
    }

    /// Returns a new stamp.
    mutating func nextStamp() -> UInt32 {
        lastStamp &+= 1
        return lastStamp
    }

    /// Returns the position of a field's value in a scope.
    @inline(__always)
    mutating func slot(_ field: Int, scope: UInt8) -> Int { Int(scope) &* fieldCount &+ field }

    /// Returns the stamp of values in a scope.
    ///
    /// The values of parent routes depend on the device.
    @inline(__always)
    mutating func stamp(of scope: UInt8) -> UInt32 { scope == 0 ? stamp : deviceStamp }

    /// The address of the first value.
    var base: UnsafeMutablePointer<BoundValue> {
        @inline(__always)
        mutating get { values.base }
    }

    /// Accesses the value at a position that `slot` returned.
    subscript(position: Int) -> BoundValue {
        @inline(__always)
        mutating get { values[position] }
        @inline(__always)
        set { values[position] = newValue }
    }

    /// Returns a Boolean value that indicates whether a field has no value in a scope.
    @inline(__always)
    mutating func isMissing(_ field: Int, scope: UInt8) -> Bool {
        let value = values.base + slot(field, scope: scope)
        return value.pointee.stamp != stamp(of: scope) || value.pointee.state.isAbsent
    }

    /// Returns a Boolean value that indicates whether a parent route binds a value of the wrong type to a field.
    mutating func isInvalid(_ field: Int, scope: UInt8) -> Bool {
        let value = values.base + slot(field, scope: scope)
        return value.pointee.stamp == stamp(of: scope) && value.pointee.state == .invalid
    }

    /// Returns a Boolean value that indicates whether the route has no value for one of the fields.
    @inline(__always)
    mutating func lacksAny(_ fields: UnsafeBufferPointer<Int32>) -> Bool {
        for field in fields where isMissing(Int(field), scope: 0) { return true }
        return false
    }
}
