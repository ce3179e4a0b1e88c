internal import StrictJSON

/// Suggestions for unknown keys: other names of known keys, and keys of a nested object.
enum LikelyKeys {
    /// The names that other formats use, with the keys that they may mean.
    private static let synonyms: [String: [String]] = [
        "name": ["id"], "pattern": ["match"], "patterns": ["match"], "url": ["external", "match"],
        "urls": ["match"], "uri": ["external", "match"], "path": ["match", "path"], "paths": ["match"],
        "target": ["to"], "destination": ["to"], "screen": ["path", "to"], "action": ["to"], "params": ["bind"],
        "parameters": ["bind"], "args": ["bind"], "data": ["bind"], "model": ["needs", "models"],
        "models": ["needs"], "condition": ["when"], "conditions": ["when"], "if": ["when"], "views": ["screens"],
        "children": ["screens"], "routes": ["screens"], "root": ["initial"], "start": ["initial"],
        "default": ["initial", "fallback"], "otherwise": ["else"], "permission": ["claim"], "role": ["claim"],
        "style": ["present"], "presentation": ["present"], "type": ["present"], "domains": ["hosts"],
        "domain": ["hosts", "host"], "protocol": ["schemes", "scheme"], "minVersion": ["minApp", "since"],
        "version": ["app", "minApp"], "appVersion": ["app"], "osVersion": ["os"], "expires": ["ttl"],
        "timeout": ["ttl"], "prefix": ["stripPrefix"], "tests": ["examples"], "expect": ["outcome"],
        "language": ["locale"], "country": ["region"], "features": ["capabilities"], "permissions": ["claims"],
        "reasons": ["on"], "reason": ["on"], "order": ["priority"], "weight": ["priority"],
    ]

    /// The keys, with the keys of the objects that contain them.
    private static let containerKeys: [String: [String]] = [
        "path": ["to"], "root": ["to"], "external": ["to"], "mode": ["to"], "parents": ["to"], "present": ["to"],
        "dismissModals": ["to"], "scheme": ["match"], "host": ["match", "link"], "anySegment": ["match"],
        "case": ["path"], "emptySegments": ["path"], "pairSeparators": ["query"], "names": ["query"],
        "duplicates": ["query"], "decode": ["query"], "plus": ["query"], "nulls": ["query"], "flatten": ["query"],
        "maxBytes": ["limits"], "maxSegments": ["limits"], "maxQueryItems": ["limits"], "ttl": ["resume"],
        "once": ["resume"], "resume": ["else"], "app": ["when", "device"], "os": ["when", "device"],
        "platform": ["when", "device"], "locale": ["when", "device"], "region": ["when", "device"],
        "claim": ["when"], "claims": ["device"], "capability": ["when"], "capabilities": ["device"],
        "attributes": ["when", "device"], "coordinator": ["device"], "when": ["variants"], "outcome": ["exclude"],
        "id": ["table"], "version": ["table"], "applications": ["table"], "canary": ["table"],
        "schemes": ["link"], "hosts": ["link"], "rewrites": ["link"], "payload": ["link", "request"],
        "limits": ["link"], "stripPrefix": ["rewrites"], "params": ["request"], "screens": ["coordinators"],
        "const": ["bind"],
    ]

    /// The keys in `containerKeys` whose values are lists, with the form of their items.
    private static let lists = [
        "variants": "{ \"when\": …, \"to\": … }, { \"to\": … }", "rewrites": "{ \"stripPrefix\": … }",
    ]

    /// Returns a suggestion for a key that an object does not have.
    static func advice(_ name: String, in object: JSONValue, keys: [String]) -> String {
        let free = keys.filter { object[$0] == nil }
        if let nearest = NearestName.of(name, among: keys) { return "did you mean `\(nearest)`?" }
        let other = synonyms[name].map { $0.filter(free.contains) } ?? []
        let candidates = containerKeys[name].map { $0.filter(keys.contains) } ?? []
        if let first = candidates.first, let items = lists[first] { return "move it into \"\(first)\": [ \(items) ]" }
        if let first = candidates.first { return "move it into \"\(first)\": { … }" }
        if let first = other.first { return "did you mean `\(first)`?" }
        return "use \(keys.map { "`\($0)`" }.joined(separator: ", "))"
    }
}

extension JSONValue {
    /// The type of the value in words.
    var typeText: String {
        switch kind {
        case .string: "a string"
        case .number: "a number"
        case .bool(let truth): truth ? "true" : "false"
        case .null: "null"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// Returns a suggestion for a value of the wrong type, or nil.
    func advice(expecting expected: String) -> String? {
        switch kind {
        case .null: "remove the key if it has no value"
        case .string(let text) where expected.hasPrefix("a list"): "write [\"\(text)\"]"
        case .string(let text) where expected == "a number" && Int64(text) != nil: "write \(text) without quotes"
        case .string(let text) where expected == "true or false" && ["true", "false"].contains(text):
            "write \(text) without quotes"
        case .number(let text) where expected.hasPrefix("a string"): "write \"\(text)\""
        case .bool(let truth) where expected.hasPrefix("a string"): "write \"\(truth)\" for a string"
        case .object where expected.hasPrefix("a list"): "write it as a list: [ … ]"
        case .array where expected == "an object": "write it as an object: { \"NAME\": … }"
        case .array(let elements) where expected.hasPrefix("a string") && elements.count == 1: "remove the brackets"
        default: nil
        }
    }
}
