import Foundation
import StrictJSON
import TestSupport

/// The workload's own checker, which is written independently of this package and compares its resolver with the
/// decisions.
enum ReferenceCheck {
    /// The checker, or nil if it is not next to the checkout.
    static var script: String? {
        let path = Checkout.root.appending(path: "../shared/workload/check.py").standardizedFileURL.path
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }

    /// Runs the checker and returns its last line, which contains the counts.
    ///
    /// Throws if it finds a difference.
    static func run(_ script: String, input: [ReadRecord], decisions: [ReadRecord]) throws -> String {
        let directory = try TemporaryFolder()
        var lines = Data()
        for record in input {
            lines.append(Data(#"{"key":""#.utf8) + Data(record.key ?? []) + Data(#"","value":"#.utf8))
            lines.append(Data(record.value ?? []) + Data("}\n".utf8))
        }
        try lines.write(to: directory.url.appending(path: "IN.jsonl"))
        lines = Data()
        for record in decisions {
            lines.append(Data(record.key ?? []) + Data("\t".utf8) + Data(record.value ?? []) + Data("\n".utf8))
        }
        try lines.write(to: directory.url.appending(path: "OUT.tsv"))
        let result = try ChildProcess.run(
            ["python3", script, "--loose", "IN.jsonl", "OUT.tsv"], in: directory.url, seconds: 300)
        guard result.status == 0 else { throw RunFailure("check.py: \(result.output)\(result.errors)") }
        return result.output.split(separator: "\n").last.map(String.init) ?? ""
    }
}
