import Foundation
import Testing

/// A parsed JSON object, for tests of texts.
struct JSONObject {
    let members: [String: Any]

    init(_ text: String) throws {
        members = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private init(_ members: [String: Any]) { self.members = members }

    func text(_ name: String) -> String? { members[name] as? String }
    func number(_ name: String) -> Int? { members[name] as? Int }
    func flag(_ name: String) -> Bool? { members[name] as? Bool }
    func texts(_ name: String) -> [String] { members[name] as? [String] ?? [] }
    func numbers(_ name: String) -> [Int]? { members[name] as? [Int] }
    func object(_ name: String) -> JSONObject? { (members[name] as? [String: Any]).map { JSONObject($0) } }
    func objects(_ name: String) -> [JSONObject] { (members[name] as? [[String: Any]] ?? []).map { JSONObject($0) } }
}
