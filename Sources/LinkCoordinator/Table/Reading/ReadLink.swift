internal import ByteStorage
internal import StrictJSON

extension TableReader {
    /// Reads `link`: one block, or a list of blocks with disjoint schemes.
    mutating func link(_ value: JSONValue, _ source: inout TableSource) {
        replacesVars = true
        defer { replacesVars = false }
        var blocks = [value]
        if case .array(let elements) = value.kind {
            blocks = elements
            if elements.isEmpty { problems.error(.badValue, at: value.offset, "link must have at least one block") }
        }
        readPathCase(blocks)
        source.foldsPathCase = foldsPathCase
        for (index, block) in blocks.enumerated() {
            guard let members = object(block, "a link block", .linkBlock) else { continue }
            source.blocks.append(self.block(members))
            if index == 0 {
                if let payload = members["payload"] { source.payload = self.payload(payload) }
                if let limits = members["limits"] { source.limits = self.limits(limits) }
                continue
            }
            for key in ["payload", "limits"] {
                guard let own = members[key] else { continue }
                problems.error(
                    .keyNotAllowed, at: own.offset,
                    "`\(key)` is only allowed in the first block, and applies to all blocks")
            }
        }
        checkDisjoint(source.blocks)
    }

    /// Reads the `path.case` of all blocks, which applies to the whole table.
    ///
    /// Blocks without the key follow the others.
    private mutating func readPathCase(_ blocks: [JSONValue]) {
        var first: Bool?
        for block in blocks {
            guard let value = block["path"]?["case"] else { continue }
            let folds = choice(value, "path.case", PathCase.sensitive) == .insensitive
            if let first, first != folds {
                problems.error(.badValue, at: value.offset, "path.case must be the same in all blocks")
            }
            first = first ?? folds
        }
        foldsPathCase = first ?? false
    }

    private enum PathCase: String, CaseIterable { case sensitive, insensitive }

    private mutating func block(_ members: Members) -> TableSource.LinkBlock {
        var block = TableSource.LinkBlock(offset: members.value.offset)
        block.schemeCase = choice(members["schemeCase"], "schemeCase", .lower)
        for scheme in members["schemes"].map({ texts($0, "schemes") }) ?? [] {
            if scheme.value == "*" {
                block.acceptsOtherSchemes = true
            } else {
                checkScheme(scheme, exactCase: block.schemeCase == .exact)
                block.schemes.append(scheme)
            }
        }
        if let schemes = members["schemes"], case .array(let list) = schemes.kind, list.isEmpty {
            problems.error(.badValue, at: schemes.offset, "schemes must list at least one scheme")
        }
        block.hostRole = hostRole(members)
        readHosts(members, &block)
        if let path = members["path"], let path = object(path, "path", .pathOptions) {
            block.emptySegments = choice(path["emptySegments"], "path.emptySegments", .collapse)
        }
        if let query = members["query"] { block.query = dialect(query) }
        if let rewrites = members["rewrites"] {
            block.rewrites = (list(rewrites, "rewrites") ?? []).compactMap { rewrite($0) }
        }
        block.repair = bool(members["repair"], "repair", false)
        if block.repair, block.query.decode != .once {
            problems.error(
                .keyNotAllowed, at: members["repair"]?.offset ?? block.offset, "repair requires query.decode `once`")
        }
        return block
    }

    /// Reads `host`.
    ///
    /// A common mistake is to write a host name there.
    private mutating func hostRole(_ members: Members) -> TableSource.LinkBlock.HostRole {
        let value = members["host"]
        guard let value, case .string(let text) = value.kind, text.contains(".") || text == "*" else {
            return choice(value, "host", .authority)
        }
        problems.error(
            .badValue, at: value.offset, "host must be `authority` or `segment`, not a host name",
            suggestion: "write \"host\": \"authority\", \"hosts\": [\"\(text)\"]")
        return members["hosts"] == nil ? .segment : .authority
    }

    private mutating func readHosts(_ members: Members, _ block: inout TableSource.LinkBlock) {
        guard let hosts = members["hosts"] else {
            if block.hostRole == .authority, members["host"] != nil {
                problems.error(
                    .missingKey, at: block.offset, "a link block with host `authority` needs the key `hosts`",
                    suggestion: "list the hosts, or \"*\" for any host")
            }
            return
        }
        if block.hostRole == .segment {
            problems.error(.keyNotAllowed, at: hosts.offset, "`hosts` is not allowed with host `segment`")
            return
        }
        block.hosts = hostRules(hosts, "hosts")
        if case .array(let list) = hosts.kind, list.isEmpty {
            problems.error(.badValue, at: hosts.offset, "hosts must list at least one host")
        }
    }

    /// Reads a list of host rules.
    mutating func hostRules(_ value: JSONValue, _ what: String) -> [Located<HostRule>] {
        var seen = Set<HostRule>()
        return (list(value, what) ?? []).compactMap { element in
            guard let text = text(element, "an item of \(what)"), let rule = hostRule(text) else { return nil }
            if seen.insert(rule).inserted { return Located(rule, at: text.offset) }
            problems.error(.duplicate, at: text.offset, "`\(text.value)` occurs twice in \(what)")
            return nil
        }
    }

    /// Reads one host rule.
    package mutating func hostRule(_ text: Located<String>) -> HostRule? {
        do throws(TextError) {
            return try HostRule.parse(text.value)
        } catch {
            reportTextError(error, in: text, .badValue)
            return nil
        }
    }

    /// Reports a malformed scheme, or one that is not lowercase although it must be.
    mutating func checkScheme(_ scheme: Located<String>, exactCase: Bool) {
        let isScheme = Array(scheme.value.utf8).withUnsafeBufferPointer { WebURL.isScheme(ByteView($0)) }
        if !isScheme {
            problems.error(
                .badValue, at: scheme.offset,
                "`\(scheme.value)` is not a valid scheme: use a letter, then letters, digits, `+`, `-`, and `.`",
                suggestion: scheme.value.firstRange(of: ":").map {
                    "write `\(scheme.value[..<$0.lowerBound].lowercased())`"
                })
        } else if !exactCase, scheme.value != scheme.value.lowercased() {
            problems.error(
                .badValue, at: scheme.offset, "a scheme must be lowercase",
                suggestion: "write `\(scheme.value.lowercased())`")
        }
    }

    /// Reports schemes that two blocks list.
    private mutating func checkDisjoint(_ blocks: [TableSource.LinkBlock]) {
        var seen = Set<String>()
        var hasOthers = false
        for block in blocks {
            for scheme in block.schemes {
                let isWritten = block.schemeCase == .exact || scheme.value == scheme.value.lowercased()
                if isWritten, !seen.insert(scheme.value).inserted {
                    problems.error(.duplicate, at: scheme.offset, "two blocks list the scheme `\(scheme.value)`")
                }
            }
            if block.acceptsOtherSchemes, hasOthers {
                problems.error(.duplicate, at: block.offset, "two blocks list the scheme `*`")
            }
            hasOthers = hasOthers || block.acceptsOtherSchemes
        }
    }

    private mutating func dialect(_ value: JSONValue) -> TableSource.QueryDialect {
        var dialect = TableSource.QueryDialect()
        guard let members = object(value, "query", .queryOptions) else { return dialect }
        if let value = members["pairSeparators"], let text = nonemptyText(value, "query.pairSeparators") {
            let excluded = Array("=%#".utf8)
            if text.value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !excluded.contains($0) }) {
                dialect.pairSeparators = Array(text.value.utf8)
            } else {
                problems.error(
                    .badValue, at: text.offset,
                    "query.pairSeparators must contain only visible ASCII characters other than `=`, `%`, and `#`")
            }
        }
        dialect.names = choice(members["names"], "query.names", .sensitive)
        dialect.duplicates = choice(members["duplicates"], "query.duplicates", .first)
        dialect.decode = choice(members["decode"], "query.decode", .once)
        dialect.plus = choice(members["plus"], "query.plus", .literal)
        if let plus = members["plus"], dialect.plus == .space, dialect.decode == .none {
            problems.error(
                .keyNotAllowed, at: plus.offset, "query.plus `space` is not allowed with query.decode `none`",
                suggestion: "remove `plus`, or write decode `once`")
        }
        dialect.nulls = choice(members["nulls"], "query.nulls", .keep)
        dialect.flatten = bool(members["flatten"], "query.flatten", false)
        return dialect
    }

    private mutating func rewrite(_ value: JSONValue) -> TableSource.Rewrite? {
        guard
            let members = object(value, "a rewrite", .rewrite),
            let prefix = members["stripPrefix"].flatMap({ text($0, "stripPrefix") })
        else { return nil }
        noteCaptureTypes(prefix)
        do throws(TextError) {
            let pattern = try PatternParser.parsePrefix(prefix.value, foldsCase: foldsPathCase)
            var own = pattern.captures.first?.name
            if let alias = members["as"].flatMap({ text($0, "as") }) {
                name(alias.value, at: alias.offset, "a rewrite", .identifier, reserves: true)
                if own == nil {
                    problems.error(.keyNotAllowed, at: alias.offset, "`as` renames a capture, but the prefix has none")
                } else {
                    own = alias.value
                }
            }
            return TableSource.Rewrite(pattern: pattern, name: own, text: prefix.value, offset: value.offset)
        } catch {
            reportTextError(error, in: prefix, .badPattern, .prefix)
            return nil
        }
    }

    private mutating func payload(_ value: JSONValue) -> TableSource.PayloadPointers {
        var pointers = TableSource.PayloadPointers()
        guard let members = object(value, "payload", .payloadPointers) else { return pointers }
        if let links = members["link"] {
            pointers.link = (list(links, "payload.link") ?? []).compactMap { pointer($0, "an item of payload.link") }
        }
        pointers.route = members["route"].flatMap { pointer($0, "payload.route") }
        pointers.params = members["params"].flatMap { pointer($0, "payload.params") }
        if let params = pointers.params, pointers.route == nil {
            problems.error(.keyNotAllowed, at: params.offset, "payload.params requires payload.route")
        }
        return pointers
    }

    private mutating func pointer(_ value: JSONValue, _ what: String) -> Located<JSONPath>? {
        guard let text = text(value, what) else { return nil }
        if let path = JSONPath(text.value) { return Located(path, at: text.offset) }
        problems.error(
            .badValue, at: text.offset, "\(what) must be a JSON pointer (RFC 6901)",
            suggestion: "write a pointer such as `/data/link`", hints: [.pointer(text.value)])
        return nil
    }

    private mutating func limits(_ value: JSONValue) -> TableSource.LinkLimits {
        var limits = TableSource.LinkLimits()
        guard let members = object(value, "limits", .linkLimits) else { return limits }
        typealias Limits = TableSource.LinkLimits
        if let value = members["maxBytes"], let limit = integer(value, "limits.maxBytes", in: Limits.bytesBounds) {
            limits.maxBytes = Int(limit)
        }
        if let value = members["maxSegments"],
            let limit = integer(value, "limits.maxSegments", in: Limits.segmentsBounds)
        {
            limits.maxSegments = Int(limit)
        }
        if let value = members["maxQueryItems"],
            let limit = integer(value, "limits.maxQueryItems", in: Limits.queryItemsBounds)
        {
            limits.maxQueryItems = Int(limit)
        }
        return limits
    }
}
