internal import StrictJSON

/// Gathers the problems of one table while it is read and checked.
package struct ProblemList: Sendable {
    /// A problem whose place is not worked out yet.
    private struct Found: Sendable {
        var severity: TableProblem.Severity
        var code: TableProblem.Code
        var message: String
        var suggestion: String?
        var offset: Int
        var routes: [String]
        var witness: String?
        var device: String?
    }

    /// Most problems that are told, the worst of all that were noted; more help nobody, and of errors no more are
    /// looked for.
    package static let maxCount = 200

    /// The worst so far, and at times as many again that are not sorted out yet.
    private var found: [Found] = []

    /// Whether one of them refuses the table.
    package var hasErrors: Bool { errorCount > 0 }

    /// Number of problems that were noted so far, those included that are not kept.
    package private(set) var count = 0

    /// Number of errors among them.
    private var errorCount = 0

    /// A Boolean value that indicates whether there are as many errors as are told: then checks look for no more.
    ///
    /// The table is refused in any case, and what there is besides may grow with the square of the file.
    package var isFull: Bool { errorCount >= Self.maxCount }

    /// Starts without problems.
    package init() {}

    /// Notes an error at a byte of the file.
    package mutating func error(
        _ code: TableProblem.Code, at offset: Int, _ message: String, suggestion: String? = nil, routes: [String] = [],
        witness: String? = nil, device: String? = nil
    ) {
        note(.error, code, offset, message, suggestion, routes, witness, device)
    }

    /// Notes a warning at a byte of the file.
    package mutating func warning(
        _ code: TableProblem.Code, at offset: Int, _ message: String, suggestion: String? = nil, routes: [String] = [],
        witness: String? = nil
    ) {
        note(.warning, code, offset, message, suggestion, routes, witness)
    }

    private mutating func note(
        _ severity: TableProblem.Severity, _ code: TableProblem.Code, _ offset: Int, _ message: String,
        _ suggestion: String?, _ routes: [String], _ witness: String?, _ device: String? = nil
    ) {
        count += 1
        if severity == .error { errorCount += 1 }
        found.append(
            Found(
                severity: severity, code: code, message: message, suggestion: suggestion, offset: offset,
                routes: routes, witness: witness, device: device))
        // Sorting out only every so often keeps the cost of each note constant and the memory bounded.
        if found.count >= Self.maxCount * 2 { keepWorst() }
    }

    /// Adds a device for which it matters to an error that was noted at a byte of the file, and more text.
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

    /// Errors before warnings, then by place and code.
    private static func key(_ one: Found) -> (Int, Int, String, String) {
        (one.severity.rawValue, one.offset, one.code.rawValue, one.message)
    }

    /// The worst problems, `maxCount` of them at most, with their places in the file, worst first.
    package func located(in file: [UInt8]) -> [TableProblem] {
        var list = self
        list.keepWorst()
        let places =
            (list.found.count > 1 ? ProblemPlaces(file) : nil)?.places(of: list.found.map(\.offset))
            ?? list.found.map { JSONPlace.locate(offset: $0.offset, in: file) }
        return zip(list.found, places).map { one, place in
            TableProblem(
                severity: one.severity, code: one.code, message: one.message, suggestion: one.suggestion,
                offset: one.offset, place: place, routes: one.routes,
                witness: one.witness, device: one.device)
        }
    }
}
