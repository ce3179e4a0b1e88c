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

    /// Most problems that are kept; more help nobody.
    package static let maxCount = 200

    private var found: [Found] = []

    /// Starts without problems.
    package init() {}

    /// Whether one of them refuses the table.
    package var hasErrors: Bool { found.contains { $0.severity == .error } }

    /// Number of problems so far.
    package var count: Int { found.count }

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
        guard found.count < Self.maxCount else { return }
        found.append(
            Found(
                severity: severity, code: code, message: message, suggestion: suggestion, offset: offset,
                routes: routes, witness: witness, device: device))
    }

    /// The problems with their places in the file, worst first.
    package func located(in file: [UInt8]) -> [TableProblem] {
        found.map { one in
            TableProblem(
                severity: one.severity, code: one.code, message: one.message, suggestion: one.suggestion,
                offset: one.offset, place: JSONPlace.locate(offset: one.offset, in: file), routes: one.routes,
                witness: one.witness, device: one.device)
        }.sorted { TableProblem.isWorse($0, than: $1) }
    }
}
