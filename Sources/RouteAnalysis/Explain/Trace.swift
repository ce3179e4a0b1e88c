internal import LinkCoordinator
internal import ByteStorage

extension Tracer {
    /// Runs the phases in order, like `Resolver.run`, up to the first failure.
    ///
    /// - Returns: The failure, or nil if all phases succeed.
    mutating func trace(into explanation: inout Explanation) -> Rejection? {
        resolver.start(request, facts, table: table.compiled.handle)
        var phase = Explanation.Phase.normalize
        do throws(Rejection) {
            guard try read(into: &explanation, &phase) else { return nil }
            if request.pointee.form == .path {
                resolver.noteFacts()
                phase = .compose
                try traceStack(of: nil, nil, into: &explanation, &phase)
            } else {
                try traceRoute(into: &explanation, &phase)
            }
            mark(&explanation)
            return nil
        } catch {
            mark(&explanation)
            explanation.failure = failure(error, in: phase, explanation)
            return error
        }
    }

    /// Normalizes a request and selects a route; returns false if there is nothing to route.
    private mutating func read(
        into explanation: inout Explanation, _ phase: inout Explanation.Phase
    ) throws(Rejection) -> Bool {
        switch request.pointee.form {
        case .path:
            _ = try resolver.readPath(request.pointee.text)
            return true
        // The link is one of a link platform, without a destination.
        case .link where request.pointee.found.kind != .unknown: return false
        case .link: try readLink(request.pointee.text, into: &explanation)
        case .payload where request.pointee.tapped.kind != .unknown:
            guard request.pointee.tapped.kind == .link else { return false }
            try readLink(request.pointee.tapped.link, into: &explanation)
        case .payload:
            var link = try resolver.findPayloadLink()
            if link.isEmpty {
                phase = .select
                let payload = table.source.payload
                explanation.listed = payload.link.map(\.value.text) + [payload.route].compactMap { $0?.value.text }
                let selection = try resolver.readPayloadRoute()
                guard selection != nil || request.pointee.found.kind == .link else { return false }
                explanation.listed = []
                if selection != nil { return true }
                phase = .normalize
                link = request.pointee.found.link
            }
            try readLink(link, into: &explanation)
        case .route:
            phase = .select
            _ = try resolver.readRoute(request.pointee.text, params: request.pointee.params)
            return true
        }
        phase = .select
        try traceSelect(into: &explanation)
        return true
    }

    private mutating func readLink(_ link: ByteView, into explanation: inout Explanation) throws(Rejection) {
        explanation.input = link.string
        let bytes = link.array
        let number = bytes.withUnsafeBufferPointer { Resolver.schemeLength(ByteView($0)) }
        blockNumber = table.source.block(listing: String(decoding: bytes[..<number], as: UTF8.self)) ?? 0
        let block = table.source.blocks[blockNumber]
        // The parts of a link beyond the limit would be many more than those of any link that is resolved.
        linkParts = bytes.count <= table.source.limits.maxBytes ? LinkParts(bytes, block) : nil
        explanation.parts = linkParts?.parts ?? []
        resolver.selection.path = try resolver.normalize(link)
        resolver.splitQuery()
        var query: [(name: String, value: String?)] = []
        for index in 0..<resolver.query.items.count {
            let item = resolver.query.items[index]
            rawValues.append(item.value.string)
            query.append((item.name.string, item.hasValue ? resolver.text(ofItem: index)?.string : nil))
        }
        explanation.link = Explanation.Link(
            scheme: resolver.link.scheme.string, host: resolver.link.host?.string,
            segments: resolver.path.map(\.text.string), query: query, rewrites: rewrites(block),
            dialect: block.dialectText)
    }

    /// Returns the text that rewrites removed, from the decision's notes.
    private mutating func rewrites(_ block: TableSource.LinkBlock) -> [String] {
        var removed: [String] = []
        for index in 0..<resolver.notes.count where resolver.notes[index].head.hasPrefix(ByteView("rewrite:")) {
            let note = resolver.notes[index]
            removed.append(note.name.string + note.middle.string + note.value.string)
        }
        return removed
    }

    /// Returns a Boolean value that indicates whether fallback rules do not apply to a reason.
    private static func isPastFallback(_ reason: ReasonCode) -> Bool { reason == .excluded || reason == .internalError }

    private mutating func failure(
        _ rejection: Rejection, in phase: Explanation.Phase, _ explanation: Explanation
    ) -> Explanation.Failure {
        let rule = table.source.fallback.firstIndex { rule in
            rule.on?.contains { $0.value == rejection.reason } ?? true
        }
        return Explanation.Failure(
            phase: phase, reason: Decision.Reason(rejection.reason),
            detail: ByteView.cut(rejection.detail), rule: Self.isPastFallback(rejection.reason) ? nil : rule,
            text: failureText(rejection, explanation))
    }
}

extension ByteView {
    /// Returns a detail in the form of a decision: at most 64 bytes, cut between characters.
    fileprivate static func cut(_ text: String) -> String {
        Array(text.utf8).withUnsafeBufferPointer { ByteView($0).prefix(bytes: maxDetailBytes).string }
    }
}
