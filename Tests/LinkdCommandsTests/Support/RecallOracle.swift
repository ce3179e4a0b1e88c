import Foundation
import TestSupport

/// An independent computation of the corrections of a recall, in Python.
enum RecallOracle {
    /// Reads the lines `PARTITION OFFSET KEY VALUE` of the topic of decisions, ordered by partition and offset, and
    /// prints the lines `PARTITION KEY VALUE` of the corrections.
    private static let program = """
        import json, sys
        wrong, right, old, new = sys.argv[1:5]
        last = {}
        for line in sys.stdin:
            partition, offset, key, value = line.rstrip("\\n").split(" ", 3)
            decision = json.loads(value)
            name = decision["decision"]
            if decision.get("supersedes", last.get(key, (None,))[0]) == last.get(key, (None,))[0]:
                last[key] = (name, partition, value, decision.get("table"))
        for key, (name, partition, value, table) in last.items():
            if table != wrong or old not in value:
                continue
            head, tail = name.split("~") if "~" in name else (name, "0")
            start = '{"decision":"%s"' % name
            if "~" in name:
                start += ',"supersedes":"%s"' % (head if tail == "1" else "%s~%d" % (head, int(tail) - 1))
            assert value.startswith(start)
            rest = value[len(start):].replace('"table":"%s"' % wrong, '"table":"%s"' % right).replace(old, new)
            print(partition, key, '{"decision":"%s~%d","supersedes":"%s"' % (head, int(tail) + 1, name) + rest)
        """

    /// Returns the corrections of decisions.
    ///
    /// - Parameters:
    ///   - decisions: The lines of the topic.
    ///   - wrong: The name of the wrong table in decisions.
    ///   - right: The name of the new table.
    ///   - text: The only text of a decision that the tables write differently.
    static func corrections(
        of decisions: [String], wrong: String, right: String, text: (old: String, new: String)
    ) throws -> [String] {
        let sorted = decisions.map { line in (line.split(separator: " ").prefix(2).compactMap { Int($0) }, line) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }
        let result = try ChildProcess.run(
            ["python3", "-c", program, wrong, right, text.old, text.new], in: FileManager.default.temporaryDirectory,
            input: sorted.map { $0.1 + "\n" }.joined(), seconds: 300)
        guard result.status == 0 else { throw ChildProcess.Failure(text: result.errors) }
        return result.output.split(separator: "\n").map(String.init).sorted()
    }
}
