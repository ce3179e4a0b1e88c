package import ByteStorage

extension FieldType {
    /// Returns the canonical form of a text under this type.
    ///
    /// For a list, it is the canonical form of one item.
    ///
    /// See RouteTableReference, "Canonical forms".
    package func canonical(_ text: ByteView) -> CanonicalValue {
        switch self {
        case .uuid: return TextForms.isUUID(text) ? .uuid(text) : .invalid
        case .int(let min, let max):
            guard let value = TextForms.integer(text), value >= min, value <= max else { return .invalid }
            return .number(text)
        case .string(let min, let max): return text.count >= min && text.count <= max ? .text(text) : .invalid
        case .bool: return TextForms.boolean(text).map { .boolean($0) } ?? .invalid
        case .double: return TextForms.double(text).map { .number($0) } ?? .invalid
        case .decimal(let min, let max):
            guard let number = TextForms.decimal(text), Self.isDecimal(number, from: min, to: max) else {
                return .invalid
            }
            return .number(number)
        case .date: return TextForms.isDate(text) ? .text(text) : .invalid
        case .dateTime: return UTCDateTime(text).map { .dateTime($0) } ?? .invalid
        case .enumeration(let values):
            return values.contains { $0.elementsEqual(text.buffer) } ? .text(text) : .invalid
        case .url(let hosts): return Self.isURL(text, hosts) ? .text(text) : .invalid
        case .list(let element, _, _): return element.canonical(text)
        }
    }

    /// Returns a Boolean value that indicates whether the text is an `https` URL with a listed host, and without
    /// userinfo and spaces.
    private static func isURL(_ text: ByteView, _ hosts: [HostRule]) -> Bool {
        guard text.count <= maxTextBytes, let url = WebURL(text), equalsFolded(url.scheme, "https"),
            let host = WebURL.normalHost(url.host), !host.isEmpty
        else { return false }
        return hosts.contains { $0.matches(host: host, port: url.port) }
    }

    /// Returns a copy of the canonical form of a text, or nil if the text is not of the type.
    package func canonicalText(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            switch canonical(ByteView(bytes)) {
            case .invalid: nil
            case .text(let view), .number(let view): view.string
            case .uuid(let view): view.string.uppercased()
            case .boolean(let value): value ? "true" : "false"
            case .dateTime(let time): time.text
            }
        }
    }
}
