internal import ByteStorage
internal import RouteAnalysis
internal import StrictJSON

/// A problem of an association file, or a difference between the file and a table.
package struct AssociationProblem: Error, Sendable, Equatable {
    /// The severity of a problem.
    package enum Severity: String, Sendable {
        /// The file cannot be used.
        case error
        /// The file can be used, but probably does not have the intended effect.
        case warning
    }

    /// The stable code of a problem.
    package enum Code: String, Sendable, CaseIterable {
        /// The file is not valid JSON or XML.
        case syntax = "association_syntax"
        /// The file exceeds a limit of this check.
        case limit = "association_limit"
        /// A value has a type or form that the system does not accept.
        case value = "association_value"
        /// The file is larger than the system accepts.
        case size = "association_size"
        /// A key is not one that the system knows, but resembles one.
        case unknownKey = "association_unknown_key"
        /// A part of the file never matches a link.
        case dead = "association_dead"
        /// A part of the file has no effect.
        case ignored = "association_ignored"
        /// A value of the manifest is only known when the app is built.
        case unresolved = "association_unresolved"
        /// Android does not verify the hosts of a filter.
        case unverified = "association_unverified"
        /// The site does not name the app.
        case notAssociated = "association_missing"
        /// The system hands no link of a route to the app.
        case neverHanded = "never_handed"
        /// The system hands a part of the links of a route to the app.
        case partlyHanded = "partly_handed"
        /// The system hands the links of a route to the app only in an unusual spelling.
        case unusualOnly = "unusual_spelling"
        /// The system hands links to the app that no route knows.
        case unknownLinks = "unknown_links"

        /// The codes that a warning can have.
        package static let ofWarnings = allCases.filter { ![.syntax, .limit].contains($0) }
    }

    /// The severity.
    package var severity: Severity
    /// The stable code.
    package var code: Code
    /// The message.
    package var message: String
    /// The line, starting at 1, or 0 if the problem has no location.
    package var line = 0
    /// The column in Unicode scalars, starting at 1, or 0.
    package var column = 0
    /// The JSON pointer of the location, or nil for a file that is not JSON.
    package var pointer: String?

    /// Creates a problem.
    init(_ severity: Severity, _ code: Code, _ message: String, at place: Place = Place()) {
        self.severity = severity
        self.code = code
        self.message = message
        (line, column, pointer) = (place.line, place.column, place.pointer)
    }

    /// A location in a file.
    struct Place: Sendable, Equatable {
        var line = 0
        var column = 0
        var pointer: String?
    }
}

/// The limits on association files, which are read from untrusted places.
package enum AssociationLimits {
    /// The maximum number of findings about one system that are printed.
    package static let maxFindings = 100
    /// The maximum size of a file, in bytes.
    static let maxBytes = 4 << 20
    /// The maximum nesting depth of a file.
    static let maxDepth = 64
    /// The maximum number of components of a JSON file.
    static let maxComponents = 10_000
    /// The maximum number of components of all apps together, where the apps of one entry count once.
    static let maxListed = 1_000_000
    /// The maximum number of elements of a manifest.
    static let maxElements = 100_000
    /// The maximum number of attributes of one element.
    static let maxAttributes = 256
    /// The maximum number of schemes, hosts, paths, and conditions of a manifest.
    static let maxPaths = 10_000
    /// The size above which Apple's systems ignore a file, in bytes.
    static let appleBytes = 128 << 10
    /// The maximum size of a pattern of a manifest, in UTF-16 code units.
    static let maxPattern = 8192
}

/// The offsets of a JSON file as lines, columns, and pointers.
struct JSONPlaces {
    private let lines: LineIndex

    init(_ text: [UInt8]) { lines = LineIndex(text) }

    /// Returns the location of a value with a known pointer.
    func place(_ value: JSONValue, _ pointer: String) -> AssociationProblem.Place {
        let (line, column) = lines.location(of: value.offset)
        return AssociationProblem.Place(line: line, column: column, pointer: pointer)
    }

    /// Returns the error that a value is wrong.
    func error(_ message: String, _ value: JSONValue, _ pointer: String) -> AssociationProblem {
        AssociationProblem(.error, .value, message, at: place(value, pointer))
    }
}

/// The lines of a text, for locations of offsets.
struct LineIndex {
    private let text: [UInt8]
    private var starts = [0]
    /// The number of scalars before each block of bytes, so that a location in a long line needs no scan of the line.
    private var scalars: [Int] = []

    private static let block = 256

    init(_ text: [UInt8]) {
        self.text = text
        var count = 0
        for (index, byte) in text.enumerated() {
            if index % Self.block == 0 { scalars.append(count) }
            if byte & 0xC0 != 0x80 { count += 1 }
            if byte == UInt8(ascii: "\n") { starts.append(index + 1) }
        }
        scalars.append(count)
    }

    /// Returns the line and the column in Unicode scalars of an offset in bytes, both starting at 1.
    func location(of offset: Int) -> (line: Int, column: Int) {
        let target = min(max(offset, 0), text.count)
        let line = starts.partitioningIndex { $0 > target }
        return (line, count(before: target) - count(before: starts[line - 1]) + 1)
    }

    /// Returns the number of Unicode scalars before an offset.
    private func count(before offset: Int) -> Int {
        let start = offset / Self.block * Self.block
        guard start < text.count else { return scalars[scalars.count - 1] }
        return scalars[offset / Self.block] + text[start..<offset].count { $0 & 0xC0 != 0x80 }
    }
}

/// The reading of JSON association files.
enum AssociationJSON {
    /// The maximum number of problems of one file.
    static let maxProblems = 200

    /// Parses a file strictly.
    static func read(_ json: [UInt8]) throws(AssociationProblem) -> JSONValue {
        guard json.count <= AssociationLimits.maxBytes else {
            throw AssociationProblem(
                .error, .limit, "the file has more than \(AssociationLimits.maxBytes) bytes")
        }
        do throws(JSONError) {
            return try JSONValue.parse(json, maxDepth: AssociationLimits.maxDepth)
        } catch {
            let cause = JSONAdvice.cause(of: error, in: json) ?? (error.text, error.offset)
            let location = JSONLocation.locate(offset: cause.offset, in: json)
            throw AssociationProblem(
                .error, error.code == .tooDeep ? .limit : .syntax, cause.message,
                at: AssociationProblem.Place(
                    line: location.line, column: location.column, pointer: location.pointer))
        }
    }
}
