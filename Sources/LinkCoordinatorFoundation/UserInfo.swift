public import Foundation
public import LinkCoordinator

extension LinkRequest {
    /// Creates a request for a deep link or universal link.
    ///
    /// - Parameter url: The URL that the system handed to the app.
    public init(url: URL) { self = .link(url.absoluteString) }
}

extension LinkParameters {
    /// Creates the parameters of a link.
    ///
    /// - Parameters:
    ///   - url: The URL that the system handed to the app.
    ///   - repair: Pass `true` to read `&amp;` as `&`, and a pilcrow as `&para`.
    public init(_ url: URL, repair: Bool = false) { self.init(url.absoluteString, repair: repair) }
}

extension RouteTable {
    /// Loads a table from a file, checks its structure, compiles it, and runs its examples.
    ///
    /// - Parameter url: The URL of the file, such as one of the app's bundle.
    /// - Throws: The error of Foundation if the file cannot be read, or ``LinkCoordinator/RouteTableError`` with every
    ///   problem that was found.
    public init(contentsOf url: URL) throws { try self.init(json: try Data(contentsOf: url)) }

    /// Resolves a URL for a device.
    ///
    /// - Parameters:
    ///   - url: The URL that the system handed to the app.
    ///   - device: The facts about the device.
    /// - Returns: The decision.
    public func resolve(_ url: URL, device: DeviceFacts = DeviceFacts()) -> Decision {
        resolve(LinkRequest(url: url), device: device)
    }
}

extension Decision {
    /// The URL to open outside the app, or nil if the outcome is not ``LinkCoordinator/Decision/Outcome/external``.
    public var externalURL: URL? { outcome == .external ? url.flatMap { URL(string: $0) } : nil }
}

/// A field of the type `url` as a property of the type `URL`.
extension URL: ModelFieldValue {
    /// The kind of the field, a text.
    public static var fieldKind: ModelFieldKind { .text }

    /// Creates a URL from the text of a field.
    public init?(fieldText: String) { self.init(string: fieldText) }

    /// The URL, percent-encoded.
    public var fieldText: String { absoluteString }
}

extension LinkRequest {
    /// Creates a request for a push notification.
    ///
    /// ```swift
    /// let request = try LinkRequest(userInfo: response.notification.request.content.userInfo)
    /// ```
    ///
    /// The table's `link.payload` says where the link is in the payload. Rules for vendors, wrapped links, and short
    /// links are read by a worker only.
    ///
    /// - Parameter userInfo: The payload, as the system hands it to the app.
    /// - Throws: ``LinkCoordinator/LinkRequestError`` if a name is not a text, a value has a type that JSON does not
    ///   have, values are nested deeper than ``LinkCoordinator/LinkRequest/Object/maxDepth`` levels, or the payload is
    ///   larger than ``LinkCoordinator/LinkRequest/Object/maxBytes`` as JSON. The error names the position of the
    ///   value, and never contains it.
    public init(userInfo: [AnyHashable: Any]) throws(LinkRequestError) {
        self = .payload(try Object(userInfo: userInfo))
    }
}

extension LinkRequest.Object {
    /// Creates an object from a dictionary of property list or JSON values.
    ///
    /// The members are sorted by name, because a dictionary has no order.
    ///
    /// - Parameter userInfo: Texts, numbers, Boolean values, `NSNull`, arrays, and dictionaries by name.
    /// - Throws: ``LinkCoordinator/LinkRequestError`` if a name is not a text, a value has a type that JSON does not
    ///   have, values are nested deeper than ``LinkCoordinator/LinkRequest/Object/maxDepth`` levels, or the object is
    ///   larger than ``LinkCoordinator/LinkRequest/Object/maxBytes`` as JSON.
    public init(userInfo: [AnyHashable: Any]) throws(LinkRequestError) {
        var writer = UserInfoWriter()
        try writer.write(members: userInfo)
        self = try Self(json: writer.json)
    }
}

/// Writes the values of a `userInfo` dictionary as JSON.
///
/// The size is checked after each value. A dictionary can contain the same array many times, so a few objects in memory
/// can have any number of values.
private struct UserInfoWriter {
    private(set) var json: [UInt8] = []
    private var path: [String] = []

    mutating func write(members: [AnyHashable: Any]) throws(LinkRequestError) {
        try checkDepth()
        var named: [(name: String, value: Any)] = []
        named.reserveCapacity(members.count)
        for (name, value) in members {
            guard let name = name.base as? String else {
                throw error("has a name that is not a text, but a \(type(of: name.base))")
            }
            named.append((name, value))
        }
        named.sort { $0.name < $1.name }
        json.append(UInt8(ascii: "{"))
        for (index, member) in named.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            try write(text: member.name)
            json.append(UInt8(ascii: ":"))
            path.append(member.name)
            try write(member.value)
            path.removeLast()
        }
        json.append(UInt8(ascii: "}"))
    }

    private mutating func write(elements: [Any]) throws(LinkRequestError) {
        try checkDepth()
        json.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            path.append("\(index)")
            try write(element)
            path.removeLast()
        }
        json.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ value: Any) throws(LinkRequestError) {
        // Casting an array or a dictionary to `NSNumber` can copy it, and casting a number to an array is slow.
        if type(of: value) is AnyObject.Type, let number = value as? NSNumber {
            try write(number: number)
            return try checkSize()
        }
        // Arrays and dictionaries come before `NSNull`: a cast to a class of Foundation converts all that a value
        // contains.
        switch value {
        case let text as String: try write(text: text)
        case let elements as [Any]: try write(elements: elements)
        case let members as [AnyHashable: Any]: try write(members: members)
        case is NSNull: json += "null".utf8
        case let number as NSNumber: try write(number: number)
        default: throw error("has the type \(type(of: value)), expected a value that JSON has")
        }
        try checkSize()
    }

    private mutating func write(number: NSNumber) throws(LinkRequestError) {
        if Self.isBool(number) {
            json += (number.boolValue ? "true" : "false").utf8
            return
        }
        guard number.doubleValue.isFinite else { throw error("is not finite, expected a number that JSON has") }
        json += number.stringValue.utf8
    }

    /// Returns a Boolean value that indicates whether a number is a Boolean value.
    ///
    /// A number with the value 0 or 1 also converts to `Bool`, and a number of the type `Int8` has the same encoding as
    /// a Boolean value on Apple platforms.
    private static func isBool(_ number: NSNumber) -> Bool {
        #if canImport(Darwin)
        CFGetTypeID(number) == CFBooleanGetTypeID()
        #else
        String(cString: number.objCType) == "c"
        #endif
    }

    private mutating func write(text: String) throws(LinkRequestError) {
        guard text.utf8.count <= LinkRequest.Object.maxBytes else { throw Self.tooLarge }
        json.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
            case 0x08: json += "\\b".utf8
            case 0x09: json += "\\t".utf8
            case 0x0A: json += "\\n".utf8
            case 0x0C: json += "\\f".utf8
            case 0x0D: json += "\\r".utf8
            case 0..<0x20: json += ("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)).utf8
            default: json.append(byte)
            }
        }
        json.append(UInt8(ascii: "\""))
    }

    private func checkDepth() throws(LinkRequestError) {
        guard path.count < LinkRequest.Object.maxDepth else {
            throw error("is nested deeper than \(LinkRequest.Object.maxDepth) levels")
        }
    }

    private func checkSize() throws(LinkRequestError) {
        guard json.count <= LinkRequest.Object.maxBytes else { throw Self.tooLarge }
    }

    private static var tooLarge: LinkRequestError {
        LinkRequestError(description: "the object is larger than \(LinkRequest.Object.maxBytes) bytes")
    }

    private func error(_ problem: String) -> LinkRequestError {
        let pointer = path.map {
            "/" + $0.replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1")
        }.joined()
        return LinkRequestError(description: "the value at `\(pointer)` \(problem)")
    }
}
