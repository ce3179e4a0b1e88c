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
        if composition.usesProgram {
            return values.lacksAny(composition.target.required) ? try requireData(of: composition) : composition
        }
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
}
