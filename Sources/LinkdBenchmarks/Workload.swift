internal import Foundation
internal import LinkdFuzz
internal import StrictJSON

/// The records of the workload.
///
/// All values are in one array.
struct Workload {
    private(set) var keys: [[UInt8]] = []
    private(set) var bytes: [UInt8] = []
    private(set) var spans: [Range<Int>] = []
    /// The path of the file, for programs that read it themselves.
    private(set) var path: String

    /// The number of records.
    var count: Int { spans.count }

    /// Reads a file with lines of the form `{"key":…,"value":{…}}`.
    init(path: String) throws {
        self.path = path
        guard let data = FileManager.default.contents(atPath: path) else {
            throw BenchmarkError(text: "the workload \(path) cannot be read", code: 78)
        }
        let all = [UInt8](data)
        var start = 0
        while start < all.count {
            let end = all[start...].firstIndex(of: UInt8(ascii: "\n")) ?? all.count
            let line = [UInt8](all[start..<end])
            start = end + 1
            if line.isEmpty { continue }
            guard let parsed = try? JSONValue.parse(line), let key = parsed["key"]?.string, let value = parsed["value"]
            else {
                throw BenchmarkError(
                    text:
                        "line \(count + 1) of \(path) is not a record of the workload", code: 65)
            }
            // The bytes of the value, up to the closing brace of the line.
            add(key: [UInt8](key.utf8), value: line[value.offset..<line.count - 1])
        }
    }

    private mutating func add(key: [UInt8], value: ArraySlice<UInt8>) {
        keys.append(key)
        spans.append(bytes.count..<bytes.count + value.count)
        bytes += value
    }

    /// Generates a workload, writes it to a file, and reads it.
    static func generated(_ count: Int, seed: UInt64 = 11) throws -> Workload {
        var generator = WorkloadGenerator(seed: seed)
        var text = ""
        for index in 0..<count {
            let event = generator.event(index)
            text += #"{"key":"\#(event.key)","value":\#(event.value)}"# + "\n"
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "linkd-workload-\(count)-\(seed).jsonl").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return try Workload(path: path)
    }
}
