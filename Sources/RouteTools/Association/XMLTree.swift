internal import ByteStorage

/// An element of an XML document, with the names of its namespaces resolved.
struct XMLNode {
    /// An attribute.
    struct Attribute {
        /// The namespace, or an empty text for none.
        var namespace: String
        /// The name without a prefix.
        var name: String
        /// The value with its references resolved.
        var value: String
    }

    /// The name without a prefix.
    var name: String
    var attributes: [Attribute]
    /// The elements inside.
    var children: [XMLNode] = []
    /// The offset of the element in bytes.
    var offset: Int

    /// Returns the value of an attribute of a namespace, or nil.
    func value(_ name: String, _ namespace: String) -> String? {
        attributes.first { $0.name == name && $0.namespace == namespace }?.value
    }
}

/// A strict reader of small XML documents from untrusted places.
///
/// It reads elements, attributes, character data, comments, processing instructions, and the five predefined entities
/// of XML 1.0 in UTF-8. A document type is an error, so there are no entities to expand. Size, depth, and the numbers
/// of elements and attributes are limited.
struct XMLTreeReader {
    private let bytes: [UInt8]
    private var at = 0
    private var elements = 0

    /// Reads a document and returns its root element, or all elements of a text that consists of elements of one name.
    ///
    /// - Parameter name: The name of elements that need no root, or nil if the text must be a document.
    static func roots(_ bytes: [UInt8], ofFragment name: String?) throws(AssociationProblem) -> [XMLNode] {
        guard bytes.count <= AssociationLimits.maxBytes else {
            throw AssociationProblem(
                .error, .limit, "the file has more than \(AssociationLimits.maxBytes) bytes")
        }
        var reader = XMLTreeReader(bytes)
        return try reader.document(ofFragment: name)
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Structure

    private struct Open {
        var node: XMLNode
        var rawName: [UInt8]
        var namespaces: [String: String]
    }

    private mutating func document(ofFragment fragment: String?) throws(AssociationProblem) -> [XMLNode] {
        let isText = bytes.withUnsafeBufferPointer { ByteView($0).firstIllFormedUTF8 == nil }
        if !isText { throw fault("the bytes are not valid UTF-8") }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
        var stack: [Open] = []
        var roots: [XMLNode] = []
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "<") else {
                try characters(isInside: !stack.isEmpty)
                continue
            }
            if try skipMarkup(isInside: !stack.isEmpty) { continue }
            if starts("</") {
                let start = at
                at += 2
                let name = try name()
                skipSpace()
                try expect(">")
                guard let open = stack.popLast(), open.rawName == name else {
                    throw fault("the end of an element does not match its start", start)
                }
                if stack.isEmpty {
                    roots.append(open.node)
                } else {
                    stack[stack.count - 1].node.children.append(open.node)
                }
                continue
            }
            let start = at
            if stack.count >= AssociationLimits.maxDepth {
                throw fault("elements are nested deeper than \(AssociationLimits.maxDepth)", code: .limit)
            }
            let (open, isClosed) = try element(stack.last?.namespaces ?? [:])
            if stack.isEmpty, let first = roots.first, first.name != fragment || open.node.name != fragment {
                throw fault("the document has a second root element", start)
            }
            if !isClosed {
                stack.append(open)
            } else if stack.isEmpty {
                roots.append(open.node)
            } else {
                stack[stack.count - 1].node.children.append(open.node)
            }
        }
        guard stack.isEmpty, !roots.isEmpty else { throw fault("the text ends inside an element") }
        return roots
    }

    /// Skips a comment, a processing instruction, or character data in brackets, or returns false if there is none.
    private mutating func skipMarkup(isInside: Bool) throws(AssociationProblem) -> Bool {
        if starts("<!--") {
            at += 4
            try skip(through: "-->", "a comment")
        } else if starts("<?") {
            try skip(through: "?>", "a processing instruction")
        } else if starts("<![CDATA[") {
            if !isInside { throw fault("text outside the root element") }
            try skip(through: "]]>", "character data")
        } else if starts("<!") {
            throw fault("a document type is not supported")
        } else {
            return false
        }
        return true
    }

    private mutating func characters(isInside: Bool) throws(AssociationProblem) {
        while at < bytes.count, bytes[at] != UInt8(ascii: "<") {
            if bytes[at] == UInt8(ascii: "&") {
                _ = try reference()
            } else {
                if !isInside, !Self.isSpace(bytes[at]) { throw fault("text outside the root element") }
                at += 1
            }
        }
    }

    private mutating func element(
        _ outer: [String: String]
    ) throws(AssociationProblem) -> (open: Open, isClosed: Bool) {
        let start = at
        elements += 1
        if elements > AssociationLimits.maxElements {
            throw fault("the file has more than \(AssociationLimits.maxElements) elements", code: .limit)
        }
        at += 1
        let rawName = try name()
        var pairs: [(name: [UInt8], value: String)] = []
        var seen = Set<[UInt8]>()
        while true {
            let hadSpace = skipSpace()
            guard at < bytes.count else { throw fault("the text ends inside an element") }
            if bytes[at] == UInt8(ascii: ">") || bytes[at] == UInt8(ascii: "/") { break }
            if !hadSpace { throw fault("expected a space before an attribute") }
            let pair = try attribute()
            if !seen.insert(pair.name).inserted { throw fault("the element has two attributes with this name") }
            pairs.append(pair)
            if pairs.count > AssociationLimits.maxAttributes {
                throw fault("an element has more than \(AssociationLimits.maxAttributes) attributes", code: .limit)
            }
        }
        let isClosed = bytes[at] == UInt8(ascii: "/")
        if isClosed { at += 1 }
        try expect(">")
        var namespaces = outer
        for pair in pairs {
            let parts = Self.split(pair.name)
            if parts.prefix == "xmlns" { namespaces[parts.name] = pair.value }
        }
        // Each element has a copy of the prefixes.
        if namespaces.count > AssociationLimits.maxAttributes {
            let most = AssociationLimits.maxAttributes
            throw fault("an element has more than \(most) prefixes of namespaces", start, code: .limit)
        }
        let attributes = pairs.map { pair in
            let parts = Self.split(pair.name)
            let namespace = parts.prefix.isEmpty ? "" : namespaces[parts.prefix] ?? parts.prefix
            return XMLNode.Attribute(namespace: namespace, name: parts.name, value: pair.value)
        }
        let node = XMLNode(name: Self.split(rawName).name, attributes: attributes, offset: start)
        return (Open(node: node, rawName: rawName, namespaces: namespaces), isClosed)
    }

    // MARK: Tokens

    private mutating func attribute() throws(AssociationProblem) -> (name: [UInt8], value: String) {
        let name = try name()
        skipSpace()
        try expect("=")
        skipSpace()
        guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "'") else {
            throw fault("expected a value in quotes")
        }
        let quote = bytes[at]
        at += 1
        var value: [UInt8] = []
        while at < bytes.count, bytes[at] != quote {
            switch bytes[at] {
            case UInt8(ascii: "<"): throw fault("a value contains `<`; write `&lt;`")
            case UInt8(ascii: "&"): value += Array(String(try reference()).utf8)
            // White space in a value becomes a space (XML 1.0, 3.3.3).
            case 0x09, 0x0A, 0x0D:
                value.append(0x20)
                at += 1
            case 0..<0x20: throw fault("a control character is not allowed")
            default:
                value.append(bytes[at])
                at += 1
            }
        }
        guard at < bytes.count else { throw fault("the text ends inside a value") }
        at += 1
        return (name, String(decoding: value, as: UTF8.self))
    }

    /// Reads a character reference or one of the predefined entities.
    private mutating func reference() throws(AssociationProblem) -> Unicode.Scalar {
        let start = at
        at += 1
        let text = bytes[at...].prefix(10)
        guard let end = text.firstIndex(of: UInt8(ascii: ";")) else {
            throw fault("a reference has no `;`; write `&amp;` for the character `&`", start)
        }
        let name = String(decoding: bytes[at..<end], as: UTF8.self)
        at = end + 1
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        let number = name.dropFirst()
        let value = number.hasPrefix("x") ? UInt32(number.dropFirst(), radix: 16) : UInt32(number)
        guard name.hasPrefix("#"), let value, value >= 0x20 || value == 9 || value == 10 || value == 13,
            let scalar = Unicode.Scalar(value)
        else { throw fault("the reference is not a character", start) }
        return scalar
    }

    private mutating func name() throws(AssociationProblem) -> [UInt8] {
        let start = at
        while at < bytes.count, Self.isName(bytes[at]) { at += 1 }
        let first = start < at ? bytes[start] : 0
        guard start < at, first != UInt8(ascii: "-"), first != UInt8(ascii: "."), first &- 48 > 9 else {
            throw fault("expected a name")
        }
        return Array(bytes[start..<at])
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
            || "-._:".utf8.contains(byte)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private static func split(_ name: [UInt8]) -> (prefix: String, name: String) {
        guard let colon = name.firstIndex(of: UInt8(ascii: ":")) else {
            return ("", String(decoding: name, as: UTF8.self))
        }
        return (
            String(decoding: name[..<colon], as: UTF8.self), String(decoding: name[(colon + 1)...], as: UTF8.self)
        )
    }

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[at...].starts(with: $0) }
    }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = at
        while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
        return at > start
    }

    private mutating func expect(_ text: StaticString) throws(AssociationProblem) {
        guard starts(text) else { throw fault("expected `\(text)`") }
        at += text.utf8CodeUnitCount
    }

    private mutating func skip(through text: StaticString, _ what: String) throws(AssociationProblem) {
        let start = at
        while at < bytes.count {
            if starts(text) {
                at += text.utf8CodeUnitCount
                return
            }
            at += 1
        }
        throw fault("\(what) has no end", start)
    }

    private func fault(
        _ message: String, _ offset: Int? = nil, code: AssociationProblem.Code = .syntax
    ) -> AssociationProblem {
        let (line, column) = LineIndex(bytes).location(of: offset ?? at)
        return AssociationProblem(
            .error, code, message, at: AssociationProblem.Place(line: line, column: column))
    }
}
