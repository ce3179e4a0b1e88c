internal import Foundation
public import LinkCoordinator

extension LinkRequest {
    /// Creates a request for a push notification.
    ///
    /// ```swift
    /// let request = try LinkRequest(userInfo: response.notification.request.content.userInfo)
    /// ```
    ///
    /// - Parameter userInfo: The payload, as the system hands it to the app.
    /// - Throws: ``LinkCoordinator/LinkRequestError`` if a name is not a text, a value has a type that JSON does not
    ///   have, or values are nested deeper than ``LinkCoordinator/LinkRequest/Object/maxDepth`` levels. The error names
    ///   the position of the value, and never contains it.
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
    ///   have, or values are nested deeper than ``LinkCoordinator/LinkRequest/Object/maxDepth`` levels.
    public init(userInfo: [AnyHashable: Any]) throws(LinkRequestError) {
        self = try UserInfoReader().object(userInfo, at: [])
    }
}

/// Reads the values of a `userInfo` dictionary.
private struct UserInfoReader {
    func object(_ members: [AnyHashable: Any], at path: [String]) throws(LinkRequestError) -> LinkRequest.Object {
        guard path.count < LinkRequest.Object.maxDepth else {
            throw error(path, "is nested deeper than \(LinkRequest.Object.maxDepth) levels")
        }
        var named: [(String, LinkRequest.Value)] = []
        for (name, value) in members {
            guard let name = name.base as? String else {
                throw error(path, "has a name that is not a text, but a \(type(of: name.base))")
            }
            named.append((name, try self.value(value, at: path + [name])))
        }
        return LinkRequest.Object(named.sorted { $0.0 < $1.0 })
    }

    private func value(_ value: Any, at path: [String]) throws(LinkRequestError) -> LinkRequest.Value {
        switch value {
        case let text as String: return .string(text)
        case is NSNull: return .null
        case let members as [AnyHashable: Any]: return .object(try object(members, at: path))
        case let elements as [Any]:
            guard path.count < LinkRequest.Object.maxDepth else {
                throw error(path, "is nested deeper than \(LinkRequest.Object.maxDepth) levels")
            }
            var values: [LinkRequest.Value] = []
            for (index, element) in elements.enumerated() {
                values.append(try self.value(element, at: path + ["\(index)"]))
            }
            return .array(values)
        case let number as NSNumber: return try self.number(number, at: path)
        default: throw error(path, "has the type \(type(of: value)), expected a value that JSON has")
        }
    }

    private func number(_ number: NSNumber, at path: [String]) throws(LinkRequestError) -> LinkRequest.Value {
        // The encoding of a Boolean value. A number with the value 0 or 1 also converts to `Bool`.
        if ["c", "B"].contains(String(cString: number.objCType)) { return .bool(number.boolValue) }
        guard number.doubleValue.isFinite else { throw error(path, "is not finite, expected a number that JSON has") }
        return .number(number.stringValue)
    }

    private func error(_ path: [String], _ problem: String) -> LinkRequestError {
        let pointer = path.map {
            "/" + $0.replacingOccurrences(of: "~", with: "~0").replacingOccurrences(of: "/", with: "~1")
        }.joined()
        return LinkRequestError(description: "the value at `\(pointer)` \(problem)")
    }
}
