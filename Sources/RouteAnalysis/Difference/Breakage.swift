internal import LinkCoordinator
package import StrictJSON

/// The rules for breaking changes of a decision.
///
/// A change is *breaking* if the old table led to a result and the new table removes part of it. The help of `linkd
/// routes diff` and the catalog of `LinkdCommands` describe the same rules.
package enum Breakage {
    /// Returns a description of what a change removes, or nil if it breaks nothing.
    ///
    /// - Parameters:
    ///   - old: The old table's decision, or an object without outcome for a dead letter.
    ///   - new: The new table's decision.
    package static func description(from old: JSONValue, to new: JSONValue) -> String? {
        guard let before = resultingOutcome(old) else { return nil }
        guard let after = resultingOutcome(new) else {
            let reason = new["reason"]?.string.map { " (\($0))" } ?? ""
            return "\(new["outcome"]?.string ?? "a dead letter")\(reason) instead of \(before)"
        }
        // A fallback is not the link's intended result, so it only matters that a screen is shown.
        if Decision.isFallback(old) { return nil }
        if Decision.isFallback(new) { return "a fallback (\(new["reason"]?.string ?? "")) instead of \(before)" }
        switch (before, after) {
        case ("deferred", "navigate"), ("deferred", "external"): return nil
        case ("deferred", "deferred"):
            if old["resume"]?["claim"]?.text != new["resume"]?["claim"]?.text { return "another claim is required" }
            return old["resume"] != nil && new["resume"] == nil ? "the request is no longer resumed" : screens(old, new)
        case (_, "deferred"): return "a claim is required that was not required before"
        case ("external", "external"):
            return old["url"]?.string != new["url"]?.string ? "another URL is opened" : nil
        case ("navigate", "navigate"): return screens(old, new) ?? data(old, new)
        default: return "\(after) instead of \(before)"
        }
    }

    /// Returns the outcome if a decision leads to a result, or nil if it does not.
    private static func resultingOutcome(_ decision: JSONValue) -> String? {
        guard let outcome = decision["outcome"]?.string, ["navigate", "external", "deferred"].contains(outcome) else {
            return nil
        }
        return outcome
    }

    private static func name(_ entry: JSONValue) -> String {
        let view = entry["view"]?.string.map { " (\($0))" } ?? ""
        return "\(entry["coordinator"]?.string ?? "").\(entry["screen"]?.string ?? "")\(view)"
    }

    /// Returns a description of a screen that is missing from the stack or in another position, or of another screen on
    /// top.
    private static func screens(_ old: JSONValue, _ new: JSONValue) -> String? {
        let before = (old["stack"]?.array ?? []).map(name)
        let after = (new["stack"]?.array ?? []).map(name)
        if before.isEmpty, !after.isEmpty { return "screens instead of the root" }
        if before.last != after.last { return "another screen is on top" }
        var rest = after[...]
        for screen in before {
            guard let index = rest.firstIndex(of: screen) else { return "`\(screen)` is missing or was moved" }
            rest = rest[(index + 1)...]
        }
        return nil
    }

    /// Returns a description of a value that a screen no longer has, or that differs.
    private static func data(_ old: JSONValue, _ new: JSONValue) -> String? {
        var rest = (new["stack"]?.array ?? [])[...]
        for entry in old["stack"]?.array ?? [] {
            guard let index = rest.firstIndex(where: { name($0) == name(entry) }) else { continue }
            for model in entry["data"]?.object ?? [] {
                for field in model.value.object ?? [] where !field.value.isNull {
                    if rest[index]["data"]?[model.name]?[field.name]?.text != field.value.text {
                        return "`\(model.name).\(field.name)` has another value, or none"
                    }
                }
            }
            rest = rest[(index + 1)...]
        }
        return nil
    }
}
