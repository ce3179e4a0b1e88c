internal import StrictJSON

// The other forms of a request (N10, N12): a coordinator path, a route with parameters, a payload.
extension Resolver {
    /// Reads a path or route request as `run` does, up to *select*.
    mutating func readAny(_ request: UnsafePointer<LinkRequest>) throws(Rejection) {
        if request.pointee.form == .path {
            try readPath(request.pointee.text)
        } else {
            try readRoute(request.pointee.text, params: request.pointee.params)
        }
    }

    /// Reads a coordinator path; `?` and `#` are plain characters (N12).
    mutating func readPath(_ text: ByteView) throws(Rejection) {
        if text.count > image.maxBytes { throw Rejection(.budget, "bytes") }
        if let bad = ByteScan.firstForbidden(in: text) { throw Rejection(.badEncoding, "byte ", number: bad) }
        isRelative = text.isEmpty || text[0] != UInt8(ascii: "/")
        try readPathSegments(text)
    }

    private mutating func readPathSegments(_ text: ByteView) throws(Rejection) {
        if text.count > 1 || (text.count == 1 && text[0] != UInt8(ascii: "/")) {
            var raw = ByteScan.count(of: UInt8(ascii: "/"), in: text) + 1
            if text[0] == UInt8(ascii: "/") { raw -= 1 }
            if text[text.count - 1] == UInt8(ascii: "/") { raw -= 1 }
            if raw > image.maxSegments { throw Rejection(.budget, "segments") }
        }
        try readSegments(authority: .empty, path: text)
    }

    /// Reads a route and its parameters: the path is built of them as if the route's first pattern had matched it.
    mutating func readRoute(_ id: ByteView, params: ByteView) throws(Rejection) {
        queryIsSplit = true
        readParams(params)
        let found = image.literals.find(node: LiteralTable.routes, text: normalForm(id))
        if found < 0 { throw Rejection(.noRoute, id) }
        route = found
        let first = Int(image.routes.at(found).firstPattern)
        if first >= 0 {
            pattern = try fillPattern(first)
        }
        if try !follow() { try select() }
    }

    /// The parameters become query pieces whose values need no decoding, numbers by their own text.
    private mutating func readParams(_ params: ByteView) {
        if params.isEmpty { return }
        var cursor = JSONCursor(maxDepth: 512)
        cursor.open(params)
        // The text was read strictly before, so that nothing is thrown here.
        guard var scope = try? cursor.enterObject() else { return }
        while (try? cursor.nextMember(&scope)) == true {
            let name = keep(scope.name)
            guard let value = scalar(&cursor) else { continue }
            pieces.append(
                QueryPiece(
                    name: name, value: value, key: ByteScan.foldedKey(name), hasValue: true, isBad: false,
                    isDecoded: true))
        }
    }

    /// A copy of text that lives as long as the resolution, in NFC.
    private mutating func keep(_ text: ByteView) -> ByteView { normalForm(copy(text)) }

    /// A copy of text that lives as long as the resolution.
    private mutating func copy(_ text: ByteView) -> ByteView {
        textsUsed = true
        texts.begin()
        texts.append(text)
        return texts.finish()
    }

    /// The text of a string, number or truth value at the cursor; nil for all else, which is passed.
    private mutating func scalar(_ cursor: inout JSONCursor) -> ByteView? {
        switch cursor.peek() {
        case UInt8(ascii: "\""):
            guard let string = try? cursor.string() else { return nil }
            return keep(cursor.unescaped(string))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"):
            return (try? cursor.skip()).map { keep($0) }
        default:
            _ = try? cursor.skip()
            return nil
        }
    }

    private mutating func param(_ name: Int32) -> ByteView? {
        let text = image.names[Int(name)]
        for index in 0..<pieces.count where pieces[index].name == text { return pieces[index].value }
        return nil
    }

    /// The parameter of a `route` request that stands for a capture which no pattern made (N12).
    @inline(never)
    mutating func param(answering name: Int32) -> ByteView? {
        request.form == .route || !payloadRoute.isEmpty ? param(name) : nil
    }

    /// Adds the segments of a parameter that is a tail, given as a path, where no pattern captures it; false where one
    /// does not decode or is not of the list's type.
    mutating func addPathItems(_ path: ByteView, _ field: Ref<FieldImage>) -> Bool {
        var valid = ByteScan.firstForbidden(in: path) == nil
        var at = 0
        while at < path.count {
            let end = ByteScan.first(UInt8(ascii: "/"), in: path, from: at)
            if end > at {
                texts.begin()
                let decodes = PercentDecoding.decode(path.slice(at, end), plusIsSpace: false, into: &texts)
                let text = finishText(hasNonASCII: false)
                let isSegment = decodes && PercentDecoding.isClean(text, invisiblesAllowed: false) && !isDots(text)
                valid = isSegment && addItem(normalForm(text), field) && valid
            }
            at = end + 1
        }
        return valid
    }

    /// Prints a pattern with the parameters in the places of its captures; returns its number, or that of the form
    /// without its trailing optional where the parameter for that is wanting.
    private mutating func fillPattern(_ number: Int) throws(Rejection) -> Int {
        let chosen = image.patterns[number]
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
        guard let rest = chosen.captures.first(where: { $0.isTail }) else { return number }
        let name = image.names[Int(rest.name)]
        guard let text = param(rest.name), !text.isEmpty else {
            if chosen.tail == .restStar { return number }
            throw Rejection(.paramMissing, ByteView("path"), dot: name)
        }
        // N4 of a path; in links it is judged before they are taken apart.
        if let bad = ByteScan.firstForbidden(in: text) { throw Rejection(.badEncoding, "byte ", number: bad) }
        let before = segments.count
        try readPathSegments(text)
        if chosen.tail == .restPlus && segments.count == before {
            throw Rejection(.paramInvalid, ByteView("path"), dot: name)
        }
        if chosen.tail == .coordinatorPath,
            segments.count == before
                || image.literals.find(node: LiteralTable.coordinators, text: segments[before].text) < 0
        {
            throw Rejection(.paramInvalid, ByteView("path"), dot: name)
        }
        return number
    }

    private mutating func fillCapture(_ capture: CaptureImage, _ matcher: Ref<MatcherImage>) throws(Rejection) {
        let name = image.names[Int(capture.name)]
        guard let value = param(capture.name) else { throw Rejection(.paramMissing, ByteView("path"), dot: name) }
        built.begin()
        if matcher.kind == .affix { built.append(matcher.text) }
        built.append(value)
        if matcher.kind == .affix { built.append(matcher.suffix) }
        let text = built.finish()
        let segment = Segment(text: text, key: image.foldsCase ? folded(text) : text)
        segments.append(segment)
        guard !value.isEmpty, matcher.takes(Ref(segments.base + (segments.count - 1))), !isDots(text) else {
            throw Rejection(.paramInvalid, ByteView("path"), dot: name)
        }
    }

    // MARK: Payloads

    /// Looks into a payload for a link, then for a route (N10); false if there is neither.
    mutating func readPayload() throws(Rejection) -> Bool {
        if let link = findPayloadLink() {
            payloadLink = link
            try normalise(link)
            try select()
            return true
        }
        guard image.hasPayloadRoute else { return false }
        for root in request.roots {
            guard let id = string(at: image.payloadRoute, in: root), !id.isEmpty else { continue }
            var params = ByteView.empty
            if image.hasPayloadParams { params = raw(at: image.payloadParams, in: root) ?? .empty }
            if params.isEmpty || params[0] != UInt8(ascii: "{") { params = .empty }
            payloadRoute = keep(id)
            payloadParams = params
            try readRoute(payloadRoute, params: params)
            return true
        }
        return false
    }

    /// The first text that is not empty at one of the table's pointers, root after root.
    mutating func findPayloadLink() -> ByteView? {
        for root in request.roots {
            for tokens in image.payloadLinks {
                if let link = string(at: tokens, in: root), !link.isEmpty { return link }
            }
        }
        return nil
    }

    /// The value that `payload./pointer` stands for: of the first root that has one.
    mutating func payloadValue(_ tokens: UnsafeBufferPointer<ByteView>) -> Found {
        for root in request.roots {
            let found = value(at: tokens, in: root)
            if case .absent = found { continue }
            if case .text(let text) = found { return .text(normalForm(text)) }
            return found
        }
        return .absent
    }

    /// The string at a JSON pointer, or nil: a number or a truth value there is no link and no route.
    private mutating func string(at tokens: UnsafeBufferPointer<ByteView>, in root: ByteView) -> ByteView? {
        guard let raw = raw(at: tokens, in: root), case .text(let text) = value(of: raw) else { return nil }
        return raw[0] == UInt8(ascii: "\"") ? text : nil
    }

    private mutating func value(at tokens: UnsafeBufferPointer<ByteView>, in root: ByteView) -> Found {
        raw(at: tokens, in: root).map { value(of: $0) } ?? .absent
    }

    private mutating func value(of raw: ByteView) -> Found {
        payloadCursor.open(raw)
        switch payloadCursor.peek() {
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .invalid
        case UInt8(ascii: "\""):
            guard let string = try? payloadCursor.string() else { return .invalid }
            let text = payloadCursor.unescaped(string)
            return .text(string.hasEscape ? copy(text) : text)
        default: return .text(raw)
        }
    }

    /// The bytes of the value at a JSON pointer (RFC 6901), or nil.
    private mutating func raw(at tokens: UnsafeBufferPointer<ByteView>, in root: ByteView) -> ByteView? {
        var value = root
        for token in tokens {
            guard let inner = member(token, of: value) else { return nil }
            value = inner
        }
        return value
    }

    private mutating func member(_ token: ByteView, of container: ByteView) -> ByteView? {
        payloadCursor.open(container)
        if payloadCursor.peek() == UInt8(ascii: "{") {
            guard var scope = try? payloadCursor.enterObject() else { return nil }
            while (try? payloadCursor.nextMember(&scope)) == true {
                guard let value = try? payloadCursor.skip() else { return nil }
                if scope.name == token { return value }
            }
            return nil
        }
        guard payloadCursor.peek() == UInt8(ascii: "["), let wanted = TextForms.integer(token), wanted >= 0,
            var scope = try? payloadCursor.enterArray()
        else { return nil }
        var index: Int64 = 0
        while (try? payloadCursor.nextElement(&scope)) == true {
            guard let value = try? payloadCursor.skip() else { return nil }
            if index == wanted { return value }
            index += 1
        }
        return nil
    }

    /// Adds the items of an array in the payload, or the one value that stands there; false where one is wrong.
    mutating func addPayloadItems(
        _ tokens: UnsafeBufferPointer<ByteView>, _ field: Ref<FieldImage>
    ) -> Bool {
        for root in request.roots {
            guard let raw = raw(at: tokens, in: root) else { continue }
            payloadCursor.open(raw)
            guard payloadCursor.peek() == UInt8(ascii: "["), var scope = try? payloadCursor.enterArray() else {
                switch value(of: raw) {
                case .text(let text): return addItem(text, field)
                case .null, .absent: return true
                case .invalid: return false
                }
            }
            var cursor = JSONCursor(maxDepth: 512)
            cursor.open(raw)
            scope = (try? cursor.enterArray()) ?? scope
            var valid = true
            while (try? cursor.nextElement(&scope)) == true {
                if cursor.peek() == UInt8(ascii: "n") {
                    _ = try? cursor.skip()
                } else if let text = scalar(&cursor) {
                    valid = addItem(text, field) && valid
                } else {
                    valid = false
                }
            }
            return valid
        }
        return true
    }
}
