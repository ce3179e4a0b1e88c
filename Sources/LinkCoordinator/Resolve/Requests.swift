package import ByteStorage
internal import StrictJSON

// Reads the other forms of requests: a coordinator path, and a route with parameters.
// See RouteTableReference, "Other request forms".
extension Resolver {
    /// Reads a coordinator path, in which `?` and `#` are ordinary characters.
    ///
    /// See RouteTableReference, "Other request forms".
    package mutating func readPath(_ text: ByteView) throws(Rejection) -> Selection {
        if text.count > tableData.maxBytes { throw Rejection(.budget, "bytes") }
        if let bad = ByteScan.firstForbidden(in: text) { throw Rejection(.badEncoding, "byte ", number: bad) }
        link.isRelative = text.isEmpty || text[0] != UInt8(ascii: "/")
        link.path = try readPathSegments(text)
        selection.path = link.path
        return selection
    }

    private mutating func readPathSegments(_ text: ByteView) throws(Rejection) -> LinkPath {
        if text.count > 1 || (text.count == 1 && text[0] != UInt8(ascii: "/")) {
            var raw = ByteScan.count(of: UInt8(ascii: "/"), in: text) + 1
            if text[0] == UInt8(ascii: "/") { raw -= 1 }
            if text[text.count - 1] == UInt8(ascii: "/") { raw -= 1 }
            if raw > tableData.maxSegments { throw Rejection(.budget, "segments") }
        }
        return try readSegments(authority: .empty, path: text)
    }

    /// Reads a route and its parameters, and builds the path as if the route's first pattern had matched it.
    package mutating func readRoute(_ id: ByteView, params json: ByteView) throws(Rejection) -> Selection {
        usesParams = true
        record.hasData = true
        if !json.isEmpty {
            do throws(JSONError) {
                try record.params.read(json, &record.texts)
            } catch {
                throw Rejection(.internalError)
            }
        }
        let found = tableData.literals.find(node: LiteralTable.routes, text: record.texts.normalForm(id))
        if found < 0 { throw Rejection(.noRoute, record.texts.normalForm(id)) }
        let route = tableData.routes.at(found)
        selection.route = route
        if route.firstPattern >= 0 {
            let number = try fillPattern(Int(route.firstPattern))
            selection.pattern = Ref(tableData.patterns + number)
        }
        return try follow() ? selection : try select(selection.path)
    }

    // MARK: Path of a route request

    /// Builds the path of a pattern from the parameters of its captures.
    ///
    /// Returns the number of the pattern, or, if the parameter of a trailing optional segment is absent, the number of
    /// the pattern without this segment.
    private mutating func fillPattern(_ number: Int) throws(Rejection) -> Int {
        let chosen = tableData.patterns[number]
        for index in 0..<chosen.segments.count {
            let matcher = chosen.segments.at(index)
            if matcher.kind == .literal {
                segments.append(Segment(text: matcher.text, key: matcher.text))
                continue
            }
            guard let capture = chosen.captures.first(where: { Int($0.segment) == index && !$0.isTail }) else {
                continue
            }
            if chosen.endsInOptional, index == chosen.segments.count - 1, param(capture.name) == nil {
                return number + 1
            }
            try fillCapture(capture, matcher)
        }
        if let rest = chosen.captures.first(where: { $0.isTail }) { try fillTail(rest, chosen.tail) }
        return number
    }

    private mutating func fillCapture(_ capture: CompiledCapture, _ matcher: Ref<CompiledMatcher>) throws(Rejection) {
        let name = tableData.names[Int(capture.name)]
        guard let value = param(capture.name) else { throw Rejection(.paramMissing, ByteView("path"), dot: name) }
        texts.built.begin()
        if matcher.kind == .affix { texts.built.append(matcher.text) }
        texts.built.append(value)
        if matcher.kind == .affix { texts.built.append(matcher.suffix) }
        let text = texts.built.finish()
        let segment = Segment(text: text, key: tableData.foldsCase ? texts.folded(text) : text)
        segments.append(segment)
        guard !value.isEmpty, matcher.matches(Ref(segments.base + (segments.count - 1))), !isDots(text) else {
            throw Rejection(.paramInvalid, ByteView("path"), dot: name)
        }
    }

    /// Adds the segments of a tail: a text is split as a path, and the items of a list are added unchanged.
    private mutating func fillTail(_ rest: CompiledCapture, _ kind: CompiledMatcher.Kind) throws(Rejection) {
        let name = tableData.names[Int(rest.name)]
        guard let number = paramNumber(rest.name), record.params.itemCount(number) > 0 || record.params.isList(number)
        else {
            if kind == .restStar { return }
            throw Rejection(.paramMissing, ByteView("path"), dot: name)
        }
        let before = segments.count
        if record.params.isList(number) {
            for item in 0..<record.params.itemCount(number) {
                try addTailItem(record.params.text(number, item: item, &record.texts))
            }
        } else {
            let text = record.params.text(number, item: 0, &record.texts)
            // A path has the same forbidden bytes as a link, whose bytes are checked before splitting.
            if let bad = ByteScan.firstForbidden(in: text) { throw Rejection(.badEncoding, "byte ", number: bad) }
            selection.path = try readPathSegments(text)
        }
        let isEmpty = segments.count == before
        let isWrong =
            switch kind {
            case .restPlus: isEmpty
            case .coordinatorPath:
                isEmpty || tableData.literals.find(node: LiteralTable.coordinators, text: segments[before].text) < 0
            default: false
            }
        if isWrong { throw Rejection(.paramInvalid, ByteView("path"), dot: name) }
    }

    private mutating func addTailItem(_ text: ByteView) throws(Rejection) {
        if segments.count >= tableData.maxSegments { throw Rejection(.budget, "segments") }
        let isClean = PercentDecoding.isClean(text, invisiblesAllowed: false) && !text.isEmpty
        guard isClean, ByteScan.firstForbidden(in: text) == nil else {
            throw Rejection(.badEncoding, "segment ", number: segments.count)
        }
        if isDots(text) { throw Rejection(.dotSegment, "segment ", number: segments.count) }
        segments.append(Segment(text: text, key: tableData.foldsCase ? texts.folded(text) : text))
    }

    // MARK: Parameters

    private mutating func paramNumber(_ name: Int32) -> Int32? {
        record.params.find(tableData.names[Int(name)], folds: false, &record.texts)?.first
    }

    /// Returns the text of the parameter with a capture's name, or nil.
    ///
    /// For a list, it is the first item.
    ///
    /// See RouteTableReference, "Other request forms".
    private mutating func param(_ name: Int32) -> ByteView? {
        guard let number = paramNumber(name), record.params.itemCount(number) > 0 else { return nil }
        return record.params.text(number, item: 0, &record.texts)
    }

    /// Returns the parameter of a `route` request that replaces a capture that the pattern does not have, or nil.
    @inline(never)
    package mutating func param(insteadOfCapture name: Int32) -> ByteView? { usesParams ? param(name) : nil }

    /// Adds the items of a parameter that replaces a capture that the pattern does not have.
    ///
    /// The items are the segments of a path, or the items of a list.
    ///
    /// Returns `false` if an item cannot be decoded or has the wrong type.
    mutating func addParamItems(insteadOfCapture name: Int32, _ field: Ref<CompiledField>) -> Bool {
        guard usesParams, let number = paramNumber(name) else { return true }
        if record.params.isList(number) { return addItems(of: number, field) }
        return addPathItems(record.params.text(number, item: 0, &record.texts), field)
    }

    private mutating func addPathItems(_ path: ByteView, _ field: Ref<CompiledField>) -> Bool {
        var valid = true
        var at = 0
        while at < path.count {
            let end = ByteScan.first(UInt8(ascii: "/"), in: path, from: at)
            if end > at {
                texts.begin()
                let raw = path.slice(at, end)
                let decodes =
                    PercentDecoding.decode(raw, plusIsSpace: false, into: &texts.arena)
                    && ByteScan.firstForbidden(in: raw) == nil
                let text = texts.finish()
                let isSegment = decodes && PercentDecoding.isClean(text, invisiblesAllowed: false) && !isDots(text)
                valid = isSegment && addItem(texts.normalForm(text), field) && valid
                if !valid { return false }
            }
            at = end + 1
        }
        return valid
    }

    private mutating func addItems(of number: Int32, _ field: Ref<CompiledField>) -> Bool {
        for item in 0..<record.params.itemCount(number) {
            if !addItem(record.params.text(number, item: item, &record.texts), field) { return false }
        }
        return true
    }

    /// Returns the value of the parameter with a query name, under the dialect's rule for duplicates.
    mutating func findParam(_ name: Ref<CompiledQueryName>) -> Found {
        guard let found = record.params.find(name.text, folds: link.block.namesFold, &record.texts) else {
            return .absent
        }
        if found.count > 1 && link.block.duplicates == .reject { return .invalid }
        let number = link.block.duplicates == .last ? found.last : found.first
        return record.params.itemCount(number) > 0 ? .text(record.params.text(number, item: 0, &record.texts)) : .null
    }

    /// Returns a Boolean value that indicates whether there is a parameter with a query name.
    mutating func hasParam(_ name: Ref<CompiledQueryName>) -> Bool {
        record.params.find(name.text, folds: link.block.namesFold, &record.texts) != nil
    }

    /// Adds the items of all parameters with a query name.
    ///
    /// Returns `false` if an item is invalid.
    mutating func addParamItems(_ name: Ref<CompiledQueryName>, _ field: Ref<CompiledField>) -> Bool {
        guard let found = record.params.find(name.text, folds: link.block.namesFold, &record.texts) else { return true }
        var number = found.first
        while number >= 0 {
            if !addItems(of: number, field) { return false }
            number = record.params.next(number, folds: link.block.namesFold)
        }
        return true
    }

    /// Makes query items from the parameters, for a repair.
    ///
    /// Returns `false` if there are more parameters than a query may have items.
    mutating func makeItemsFromParams() -> Bool {
        if record.params.count > tableData.maxQueryItems { return false }
        for number in 0..<Int32(truncatingIfNeeded: record.params.count) {
            let name = record.params.name(number)
            for item in 0..<record.params.itemCount(number) {
                query.items.append(
                    QueryItem(
                        name: name, value: record.params.text(number, item: item, &record.texts),
                        key: ByteScan.foldedKey(name), hasValue: true, isBad: false, isDecoded: true))
            }
        }
        return true
    }
}
