internal import Foundation
internal import StrictJSON

/// The records of a workload file: one JSON line each, `{"key":…,"value":{…}}`.
struct Workload {
    /// Keys and values as bytes, in the order of the file.
    private(set) var keys: [[UInt8]] = []
    private(set) var values: [[UInt8]] = []

    /// Number of records.
    var count: Int { values.count }

    /// Reads a file; lines that are none of this form are refused.
    init(path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        for line in data.split(separator: UInt8(ascii: "\n")) {
            let bytes = [UInt8](line)
            let parsed = try JSONValue.parse(bytes)
            guard let key = parsed["key"]?.string, let value = parsed["value"] else { throw Unreadable() }
            keys.append([UInt8](key.utf8))
            // The value's own bytes, as a producer would send them: up to the line's closing brace.
            values.append([UInt8](bytes[value.offset..<bytes.count - 1]))
        }
    }

    struct Unreadable: Error {}
}
