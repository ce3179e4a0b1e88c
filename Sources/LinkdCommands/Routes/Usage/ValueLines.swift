internal import RouteTools
internal import RouteAnalysis
internal import LinkCoordinator
internal import StrictJSON

/// The changed values of decisions, for people and as JSON.
enum ValueLines {
    /// Prints a line for each value, with the member, the old value, and the new one.
    static func print(_ values: [ChangedValues.Value], limit: Int, on out: Channel) {
        let width = values.prefix(limit).map { DisplayWidth.width(of: Escaping.visible($0.member)) }.max() ?? 0
        for value in values.prefix(limit) {
            let member = Escaping.visible(value.member)
            let space = String(repeating: " ", count: max(0, width - DisplayWidth.width(of: member)))
            out.line("    \(member)\(space)  \(text(value.old)) -> \(text(value.new))")
        }
        if values.count > limit { out.line("    and \(Counts.text(values.count - limit, "more value"))") }
    }

    private static func text(_ value: String?) -> String {
        value.map { DisplayWidth.cut(Escaping.visible($0), to: 100) } ?? "(absent)"
    }

    /// Writes the member `values`, with old and new values as JSON.
    ///
    /// An absent value is omitted.
    static func write(_ values: [ChangedValues.Value], to json: inout JSONText) {
        json.objects("values", of: values) { json, value in
            json.text("member", value.member)
            if let old = value.old { json.raw("old", Array(old.utf8)) }
            if let new = value.new { json.raw("new", Array(new.utf8)) }
        }
    }
}
