internal import StrictJSON

// Phase 5: values from the link to the fields of the models that the stack needs (2.7).
extension Resolver {
    /// Reads every bound value of the route; one that is there must be of its type, whether a screen needs it or not.
    mutating func bindRoute(_ route: UnsafePointer<RouteImage>) throws(Rejection) {
        for index in 0..<route.pointee.bindings.count {
            let binding = route.pointee.bindings.baseAddress.unsafelyUnwrapped + index
            let field = Int(binding.pointee.field)
            if bind(binding, scope: 0) { continue }
            let type = image.pointee.fields.baseAddress.unsafelyUnwrapped + field
            if route.pointee.drops && type.pointee.absence != .required {
                values[field] = BoundValue(stamp: stamp)
                notes.append(Note("dropped:", type.pointee.modelName, ".", type.pointee.name))
                continue
            }
            throw Rejection(.paramInvalid, type.pointee.modelName, dot: type.pointee.name)
        }
        if route.pointee.requireAll { try requireAll(route) }
    }

    private func requireAll(_ route: UnsafePointer<RouteImage>) throws(Rejection) {
        for binding in route.pointee.bindings {
            let field = image.pointee.fields[Int(binding.field)]
            if field.absence == .required && isMissing(Int(binding.field), scope: 0) {
                throw Rejection(.paramMissing, field.modelName, dot: field.name)
            }
        }
    }

    /// Reads the values of a parent route into its scope; what is invalid there only costs the parent its place.
    mutating func bindParent(_ route: UnsafePointer<RouteImage>, scope: UInt8) {
        for index in 0..<route.pointee.bindings.count {
            let binding = route.pointee.bindings.baseAddress.unsafelyUnwrapped + index
            if !bind(binding, scope: scope) {
                values[slot(Int(binding.pointee.field), scope: scope)].state = .missing
            }
        }
    }

    /// Where the value of a field stands in a scope.
    @inline(__always)
    func slot(_ field: Int, scope: UInt8) -> Int { Int(scope) &* image.pointee.fields.count &+ field }

    /// Whether a field has no value in a scope.
    @inline(__always)
    func isMissing(_ field: Int, scope: UInt8) -> Bool {
        let value = values.base + slot(field, scope: scope)
        return value.pointee.stamp != stamp || value.pointee.state == .missing
    }

    /// Reads one value; false where it is there but not of its type.
    private mutating func bind(_ binding: UnsafePointer<BindingImage>, scope: UInt8) -> Bool {
        let field = image.pointee.fields.baseAddress.unsafelyUnwrapped + Int(binding.pointee.field)
        let place = slot(Int(binding.pointee.field), scope: scope)
        if field.pointee.kind == .list { return bindList(binding, field, place) }
        if binding.pointee.trusted, let text = captureSlice(binding.pointee.name) {
            values[place] = BoundValue(
                stamp: stamp, state: field.pointee.kind == .uuid ? .uuid : .plain, view: text)
            return true
        }
        switch source(binding) {
        case .absent, .null:
            values[place] = BoundValue(stamp: stamp)
            return repairs(binding, field, place) || true
        case .invalid:
            values[place] = BoundValue(stamp: stamp)
            return repairs(binding, field, place)
        case .text(let text):
            if var value = canonical(text, field, kind: field.pointee.kind) {
                value.stamp = stamp
                values[place] = value
                return true
            }
            values[place] = BoundValue(stamp: stamp)
            return repairs(binding, field, place)
        }
    }

    private mutating func repairs(
        _ binding: UnsafePointer<BindingImage>, _ field: UnsafePointer<FieldImage>, _ place: Int
    ) -> Bool {
        guard block.pointee.repair, binding.pointee.source == .query else { return false }
        return repair(binding, field, place)
    }

    /// What stands at a binding's source.
    private mutating func source(_ binding: UnsafePointer<BindingImage>) -> Found {
        switch binding.pointee.source {
        case .path: return capture(binding.pointee.name).map { .text($0) } ?? .absent
        case .query: return find(binding.pointee.query)
        case .rewrite: return rewritten(binding.pointee.name).map { .text($0) } ?? .absent
        case .payload: return payloadValue(binding.pointee.tokens)
        case .fragment: return hasFragment ? fragmentText() : .absent
        case .constant: return .text(binding.pointee.constant)
        }
    }

    private mutating func fragmentText() -> Found {
        texts.begin()
        let decodes = PercentDecoding.decode(fragment, plusIsSpace: false, into: &texts)
        let text = finishText(hasNonASCII: false)
        guard decodes, PercentDecoding.isClean(text, invisiblesAllowed: true) else { return .invalid }
        return .text(normalForm(text))
    }

    /// The canonical form of a text under a field's type, or nil.
    func canonical(_ text: ByteView, _ field: UnsafePointer<FieldImage>, kind: FieldImage.Kind) -> BoundValue? {
        switch kind {
        case .uuid: return TextForms.isUUID(text) ? BoundValue(state: .uuid, view: text) : nil
        case .int:
            guard let value = TextForms.integer(text), value >= field.pointee.min, value <= field.pointee.max else {
                return nil
            }
            return BoundValue(state: .plain, view: text)
        case .string:
            guard text.count >= Int(field.pointee.min), text.count <= Int(field.pointee.max) else { return nil }
            return BoundValue(state: .text, view: text)
        case .bool:
            guard let value = TextForms.boolean(text) else { return nil }
            return BoundValue(state: .plain, view: value ? ByteView("true") : ByteView("false"))
        case .double: return TextForms.double(text).map { BoundValue(state: .plain, view: $0) }
        case .date: return TextForms.isDate(text) ? BoundValue(state: .text, view: text) : nil
        case .enumeration:
            for value in field.pointee.values where value == text { return BoundValue(state: .text, view: text) }
            return nil
        case .url: return isURL(text, field.pointee.hosts) ? BoundValue(state: .text, view: text) : nil
        case .list: return nil
        }
    }

    /// Whether a text is an https URL whose host is listed, without userinfo and blanks.
    private func isURL(_ text: ByteView, _ hosts: UnsafeBufferPointer<HostRuleImage>) -> Bool {
        guard text.count <= FieldType.maxTextBytes, let url = WebURL(text), equalsFolded(url.scheme, "https"),
            let host = WebURL.normalHost(url.host)
        else { return false }
        let port = url.port.map { Int32($0) } ?? -1
        return host.withUnsafeBufferPointer { bytes in
            hosts.contains { $0.takes(host: ByteView(bytes), port: port) }
        }
    }

    /// A list takes all items that are not null: of the query, of a tail, of an array in the payload.
    private mutating func bindList(
        _ binding: UnsafePointer<BindingImage>, _ field: UnsafePointer<FieldImage>, _ place: Int
    ) -> Bool {
        let first = items.count
        var valid = true
        switch binding.pointee.source {
        case .query:
            splitQuery()
            for index in 0..<pieces.count where matches(pieces[index], binding.pointee.query) {
                let piece = pieces[index]
                if !piece.hasValue { continue }
                guard let text = text(of: piece) else {
                    valid = false
                    continue
                }
                valid = addItem(text, field) && valid
            }
        case .path:
            if let start = tail(binding.pointee.name) {
                for index in start..<max(start, path.count) { valid = addItem(path[index].text, field) && valid }
            } else if let text = capture(binding.pointee.name) {
                valid = addItem(text, field)
            }
        case .payload: valid = addPayloadItems(binding.pointee.tokens, field)
        case .rewrite, .fragment, .constant:
            switch source(binding) {
            case .text(let text): valid = addItem(text, field)
            case .invalid: valid = false
            case .absent, .null: break
            }
        }
        let count = items.count - first
        values[place] = BoundValue(stamp: stamp)
        if !valid { return false }
        if count == 0 { return true }
        guard count >= Int(field.pointee.minCount), count <= Int(field.pointee.maxCount) else { return false }
        values[place] = BoundValue(
            stamp: stamp, state: .list, first: Int32(truncatingIfNeeded: first), count: Int32(truncatingIfNeeded: count)
        )
        return true
    }

    /// Adds an item to the list that is being read; false where it is not of the list's type.
    mutating func addItem(_ text: ByteView, _ field: UnsafePointer<FieldImage>) -> Bool {
        guard let value = canonical(text, field, kind: field.pointee.item) else { return false }
        items.append(value)
        return true
    }

    /// Looks for what the stack's screens cannot do without; a parent that wants something is dropped, never the leaf.
    mutating func requireData() throws(Rejection) {
        var index = 0
        while index < stack.count {
            let entry = stack[index]
            let screen = image.pointee.screens.baseAddress.unsafelyUnwrapped + Int(entry.screen)
            var wanting = -1
            for field in screen.pointee.required where isMissing(Int(field), scope: entry.scope) {
                wanting = Int(field)
                break
            }
            if wanting < 0 {
                index &+= 1
                continue
            }
            let field = image.pointee.fields[wanting]
            guard entry.isParent else { throw Rejection(.paramMissing, field.modelName, dot: field.name) }
            let (coordinator, name) = names(of: entry)
            notes.append(Note("parent dropped:", coordinator, ".", name))
            stackIsStatic = false
            for later in index..<stack.count - 1 { stack[later] = stack[later + 1] }
            stack.truncate(to: stack.count - 1)
        }
        if stack.count > Self.maxEntries { throw Rejection(.budget, "stack") }
    }
}
