// What libFuzzer calls. The launcher says FUZZING, and links what the names below stand for.
#if FUZZING
internal import Foundation

/// libFuzzer's own changes of an input.
@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ most: Int) -> Int

/// The target that this program's name says, and what runs it: libFuzzer calls from one thread only.
private struct Search {
    let target: FuzzTarget
    let runner: FuzzRunner
    let mutator: Mutator

    // Set once before the first input.
    nonisolated(unsafe) static var current: Search?
}

/// Chooses the target by the program's name; with `LINKD_FUZZ_SEEDS` writes its seeds into that directory and ends.
@_cdecl("LLVMFuzzerInitialize")
public func initializeFuzzer(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
    let name = arguments.pointee[0].map { String(cString: $0) }?.split(separator: "/").last.map(String.init) ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        end("expected events, links, tables or sequences, not \(name)")
    }
    do {
        let worlds = try World.all()
        if let path = ProcessInfo.processInfo.environment["LINKD_FUZZ_SEEDS"] {
            for (index, input) in try Seeds.all(target, worlds: worlds).enumerated() {
                try Data(input).write(to: URL(filePath: path).appending(path: "seed-\(index)"))
            }
            exit(0)
        }
        Search.current = Search(
            target: target, runner: FuzzRunner(worlds: worlds, cost: .sanitized),
            mutator: Mutator(target, worlds: worlds))
    } catch {
        end("\(error)")
    }
    return 0
}

/// Runs an input; where something is wrong says it and ends, so that libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
    guard let search = Search.current, size <= search.target.maxBytes else { return -1 }
    let input = [UInt8](UnsafeBufferPointer(start: data, count: size))
    if let wrong = search.runner.run(search.target, input) { fail("FIND in \(search.target): \(wrong)") }
    return 0
}

/// Changes an input: as JSON, lines and links, or as libFuzzer itself does.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateInput(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ most: Int, _ seed: UInt32) -> Int {
    var dice = Dice(seed: UInt64(seed))
    guard let search = Search.current, !dice.one(in: 3) else { return mutateBytes(data, size, most) }
    var input = [UInt8](UnsafeBufferPointer(start: data, count: size))
    search.mutator.change(&input, &dice)
    let count = min(input.count, most)
    for index in 0..<count { data[index] = input[index] }
    return count
}

/// Says why the search cannot begin, and ends.
private func end(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(70)
}

/// Says what is wrong with an input, and ends as a crash does.
private func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    abort()
}
#endif
