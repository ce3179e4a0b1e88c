// The entry points for libFuzzer. The launcher defines FUZZING and links libFuzzer.
#if FUZZING
internal import Foundation

/// libFuzzer's own mutation of an input.
@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maxSize: Int) -> Int

/// The target with the name of this program, and its runner.
///
/// libFuzzer uses a single thread.
private struct Search {
    let target: FuzzTarget
    let runner: FuzzRunner
    let mutator: Mutator

    // Set once, before the first input.
    nonisolated(unsafe) static var current: Search?
}

/// Selects the target by the name of the program.
///
/// With `LINKD_FUZZ_SEEDS` it writes the seeds into that directory and ends.
@_cdecl("LLVMFuzzerInitialize")
public func initializeFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
    let name = arguments.pointee[0].map { String(cString: $0) }?.split(separator: "/").last.map(String.init) ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        end("`\(name)` is not a target: use one of \(names)")
    }
    do {
        let environments = try FuzzEnvironment.all()
        if let path = ProcessInfo.processInfo.environment["LINKD_FUZZ_SEEDS"] {
            for (index, input) in try Seeds.all(target, environments: environments).enumerated() {
                try Data(input).write(to: URL(filePath: path).appending(path: "seed-\(index)"))
            }
            exit(0)
        }
        Search.current = Search(
            target: target, runner: FuzzRunner(environments: environments, cost: .sanitized),
            mutator: Mutator(target, environments: environments))
    } catch {
        end("\(error)")
    }
    return 0
}

/// Runs an input.
///
/// Reports a violation and aborts, so that libFuzzer stores the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
    guard let search = Search.current, size <= search.target.maxBytes else { return -1 }
    let input = [UInt8](UnsafeBufferPointer(start: data, count: size))
    if let wrong = search.runner.run(search.target, input) { fail("FINDING in \(search.target): \(wrong)") }
    return 0
}

/// Mutates an input according to its meaning, or with libFuzzer's own mutation.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateInput(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ maxSize: Int, _ seed: UInt32) -> Int {
    var random = RandomSource(seed: UInt64(seed))
    guard let search = Search.current, !random.one(in: 3) else { return mutateBytes(data, size, maxSize) }
    var input = [UInt8](UnsafeBufferPointer(start: data, count: size))
    search.mutator.change(&input, &random)
    let count = min(input.count, maxSize)
    for index in 0..<count { data[index] = input[index] }
    return count
}

/// Prints the reason for which the search cannot start, and ends the process.
private func end(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(70)
}

/// Prints a violation and aborts.
private func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    abort()
}
#endif
