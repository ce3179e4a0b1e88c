internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator

/// Values of decisions that changed, for people and for programs.
enum ValueLines {
    /// Prints a line for each value: the member, what it was, what it is.
    static func print(_ values: [ChangedValues.Value], most: Int, on out: Channel) {
        let width = values.prefix(most).map { DisplayWidth.of(Escaping.visible($0.member)) }.max() ?? 0
        for value in values.prefix(most) {
            let member = Escaping.visible(value.member)
            let space = String(repeating: " ", count: max(0, width - DisplayWidth.of(member)))
            out.line("    \(member)\(space)  \(text(value.old)) -> \(text(value.new))")
        }
        if values.count > most { out.line("    and \(values.count - most) more values") }
    }

    private static func text(_ value: String?) -> String {
        value.map { DisplayWidth.cut(Escaping.visible($0), to: 100) } ?? "nothing"
    }

    /// Writes the member `values`: old and new as JSON, left out where there is none.
    static func write(_ values: [ChangedValues.Value], to json: inout JSONText) {
        json.beginArray("values")
        for value in values {
            json.beginObject()
            json.text("member", value.member)
            if let old = value.old { json.raw("old", Array(old.utf8)) }
            if let new = value.new { json.raw("new", Array(new.utf8)) }
            json.endObject()
        }
        json.endArray()
    }
}
