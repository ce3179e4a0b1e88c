internal import LinkCoordinator
package import StrictJSON

/// Judges whether a change of a decision breaks something that worked.
///
/// A change is *breaking* where the old table led somewhere and the new one takes away from it; the help of
/// `linkd routes diff` and its catalog say the same.
package enum Breakage {
    /// Returns what a change takes away, in words; nil where it breaks nothing.
    ///
    /// - Parameters:
    ///   - old: The old table's decision, or an object without outcome for a dead letter.
    ///   - new: The new table's.
    package static func of(_ old: JSONValue, _ new: JSONValue) -> String? {
        guard let before = lead(old) else { return nil }
        guard let after = lead(new) else {
            let reason = new["reason"]?.string.map { " (\($0))" } ?? ""
            return "\(new["outcome"]?.string ?? "a dead letter")\(reason) where it was \(before)"
        }
        // A fallback was no part of what the link meant: only that something is shown counts.
        if Decision.isFallback(old) { return nil }
        if Decision.isFallback(new) { return "a fallback (\(new["reason"]?.string ?? "")) where it was \(before)" }
        switch (before, after) {
        case ("deferred", "navigate"), ("deferred", "external"): return nil
        case ("deferred", "deferred"):
            if old["resume"]?["claim"]?.text != new["resume"]?["claim"]?.text { return "another claim is asked for" }
            return old["resume"] != nil && new["resume"] == nil ? "nothing is resumed" : screens(old, new)
        case (_, "deferred"): return "a claim is asked for where none was"
        case ("external", "external"):
            return old["url"]?.string != new["url"]?.string ? "another URL is opened" : nil
        case ("navigate", "navigate"): return screens(old, new) ?? data(old, new)
        default: return "\(after) where it was \(before)"
        }
    }

    /// The outcome where a decision leads somewhere.
    private static func lead(_ decision: JSONValue) -> String? {
        guard let outcome = decision["outcome"]?.string, ["navigate", "external", "deferred"].contains(outcome) else {
            return nil
        }
        return outcome
    }

    private static func name(_ entry: JSONValue) -> String {
        let view = entry["view"]?.string.map { " (\($0))" } ?? ""
        return "\(entry["coordinator"]?.string ?? "").\(entry["screen"]?.string ?? "")\(view)"
    }

    /// Screens that are gone from the stack or stand in another order, and another screen on top.
    private static func screens(_ old: JSONValue, _ new: JSONValue) -> String? {
        let before = (old["stack"]?.array ?? []).map(name)
        let after = (new["stack"]?.array ?? []).map(name)
        if before.isEmpty, !after.isEmpty { return "screens where the root was shown" }
        if before.last != after.last { return "another screen on top" }
        var rest = after[...]
        for screen in before {
            guard let place = rest.firstIndex(of: screen) else { return "`\(screen)` is gone from the stack" }
            rest = rest[(place + 1)...]
        }
        return nil
    }

    /// Values that a screen had and has no more, or has another of.
    private static func data(_ old: JSONValue, _ new: JSONValue) -> String? {
        var rest = (new["stack"]?.array ?? [])[...]
        for entry in old["stack"]?.array ?? [] {
            guard let place = rest.firstIndex(where: { name($0) == name(entry) }) else { continue }
            for model in entry["data"]?.object ?? [] {
                for field in model.value.object ?? [] where !field.value.isNull {
                    if rest[place]["data"]?[model.name]?[field.name]?.text != field.value.text {
                        return "`\(model.name).\(field.name)` has another value or none"
                    }
                }
            }
            rest = rest[(place + 1)...]
        }
        return nil
    }
}
