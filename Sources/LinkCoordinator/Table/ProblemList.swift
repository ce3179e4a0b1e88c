internal import StrictJSON

/// The problems of a table, collected while it is read and checked.
package struct ProblemList: Sendable {
    /// A problem whose line, column, and pointer are not yet known.
    private struct Found: Sendable {
        var severity: TableProblem.Severity
        var code: TableProblem.Code
        var message: String
        var suggestion: String?
        var offset: Int
        var routes: [String]
        var witness: String?
        var device: String?
        var schemaVersion: Int?
    }

    /// The maximum number of reported problems.
    ///
    /// The worst ones are reported. After one error more, the checks stop.
    package static let maxCount = 200

    /// The worst problems so far, and up to as many others that are not sorted yet.
    private var found: [Found] = []

    /// A Boolean value that indicates whether one of the problems refuses the table.
    package var hasErrors: Bool { errorCount > 0 }

    /// The number of problems that were added, including those that are no longer kept.
    package private(set) var count = 0

    /// The number of errors among them.
    private var errorCount = 0

    /// A Boolean value that indicates whether there are more errors than are reported, so that the checks stop.
    ///
    /// The table is refused in any case, and the number of further problems can grow with the square of the file's
    /// size.
    package var isFull: Bool { errorCount > Self.maxCount }

    /// Creates an empty list.
    package init() {}

    /// Adds an error at a byte of the file.
    package mutating func error(
        _ code: TableProblem.Code, at offset: Int, _ message: String, suggestion: String? = nil, routes: [String] = [],
        witness: String? = nil, device: String? = nil, schemaVersion: Int? = nil
    ) {
        note(.error, code, offset, message, suggestion, routes, witness, device, schemaVersion)
    }

    /// Adds a warning at a byte of the file.
    package mutating func warning(
        _ code: TableProblem.Code, at offset: Int, _ message: String, suggestion: String? = nil, routes: [String] = [],
        witness: String? = nil
    ) {
        note(.warning, code, offset, message, suggestion, routes, witness)
    }

    private mutating func note(
        _ severity: TableProblem.Severity, _ code: TableProblem.Code, _ offset: Int, _ message: String,
        _ suggestion: String?, _ routes: [String], _ witness: String?, _ device: String? = nil,
        _ schemaVersion: Int? = nil
    ) {
        count += 1
        if severity == .error { errorCount += 1 }
        found.append(
            Found(
                severity: severity, code: code, message: message, suggestion: suggestion, offset: offset,
                routes: routes, witness: witness, device: device, schemaVersion: schemaVersion))
        // Sorting only when the list has doubled keeps the cost of each addition constant and limits the memory.
        if found.count >= Self.maxCount * 2 { keepWorst() }
    }

    /// Adds an affected device and more text to an error at a byte of the file.
    package mutating func addDevice(
        _ device: String, to code: TableProblem.Code, at offset: Int, _ more: String
    ) {
        guard let index = found.firstIndex(where: { $0.code == code && $0.offset == offset }) else { return }
        found[index].device = device
        found[index].message += more
    }

    private mutating func keepWorst() {
        found.sort { Self.key($0) < Self.key($1) }
        found.removeLast(max(0, found.count - Self.maxCount))
    }

    /// Returns the sort key: errors before warnings, then by offset and code.
    ///
    /// An unsupported schema version precedes all others, because it is the reason for unknown keys and types.
    private static func key(_ one: Found) -> (Int, Int, String, String) {
        let isReason = one.code == .unsupportedSchemaVersion
        return (one.severity.rawValue, isReason ? -1 : one.offset, one.code.rawValue, one.message)
    }

    /// Returns the worst problems, at most `maxCount`, with their positions in the file, in order.
    package func located(in file: [UInt8]) -> [TableProblem] {
        var list = self
        list.keepWorst()
        let locations =
            (list.found.count > 1 ? ProblemLocations(file) : nil)?.locations(of: list.found.map(\.offset))
            ?? list.found.map { JSONLocation.locate(offset: $0.offset, in: file) }
        return zip(list.found, locations).map { one, location in
            TableProblem(
                severity: one.severity, code: one.code, message: one.message, suggestion: one.suggestion,
                offset: one.offset, location: location, routes: one.routes,
                witness: one.witness, device: one.device, schemaVersion: one.schemaVersion)
        }
    }
}
