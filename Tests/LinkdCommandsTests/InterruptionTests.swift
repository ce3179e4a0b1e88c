internal import Foundation
internal import StrictJSON
internal import TestSupport
internal import Testing

@testable internal import LinkdCommands

@Suite struct InterruptionTests {
    @Test("An interrupted produce prints its summary and ends with exit code 130")
    func produce() throws {
        let directory = try TemporaryFolder()
        let files = try ["out", "err"].map { name in
            try Data().write(to: directory.url.appending(path: name))
            return try FileHandle(forWritingTo: directory.url.appending(path: name))
        }
        func text(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: directory.url.appending(path: name)), as: UTF8.self)
        }
        let input = Pipe()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: BuiltProgram.linkd)
        process.arguments = ["produce", "--dry-run", "--json", "--device", "d"]
        process.environment = ["PATH": "/usr/bin:/bin"]
        process.standardInput = input
        process.standardOutput = files[0]
        process.standardError = files[1]
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.start()
        // The second line is reported when it is read, so both lines have been read then.
        try input.fileHandleForWriting.write(contentsOf: Data("shop:///p/new\n{\n".utf8))
        let wasRead = try becomesTrue(withinSeconds: 60) {
            if try text("err").contains("line 2") { return true }
            Thread.sleep(forTimeInterval: 0.02)
            return false
        }
        process.interrupt()
        let isOver = ended.wait(timeout: .now() + 60) == .success
        if !isOver { kill(process.processIdentifier, SIGKILL) }
        try #require(wasRead && isOver)
        let errors = try text("err")
        #expect(process.terminationStatus == 130, "\(errors)")
        let summary = try JSONValue.parse(Array(try text("out").utf8))
        #expect(summary["read"]?.integer == Int64(2))
        #expect(summary["unreadable"]?.integer == Int64(1))
        #expect(errors.contains("exit 130 (interrupted): ended by signal 2"))
    }

    @Test("A signal ends a command whose input is one line without an end")
    func endlessLine() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path("a.jsonl")))
        try #require(truncate(folder.path("a.jsonl"), 1 << 40) == 0)
        let script = "\"$0\" produce --dry-run a.jsonl & sleep 1; kill -TERM $!; wait $!"
        let result = try ChildProcess.run(["/bin/sh", "-c", script, BuiltProgram.linkd], in: folder.url, seconds: 60)
        #expect(result.status == 143, "\(result.errors)")
    }
}
