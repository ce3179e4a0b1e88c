internal import ByteStorage
internal import Foundation
internal import LinkIngest
internal import ShortLinks

/// The benchmark `short-links`: building a file of short links, and looking links up in it, beside a dictionary.
enum ShortLinkBenchmark {
    /// The number of look-ups of a round.
    private static let lookups = 200_000

    static func run(_ options: BenchmarkOptions) throws -> Int32 {
        let report = Report(json: options.json)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("linkd-short-links-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/short.links"
        report.heading("\(options.records) short links")
        let before = memory("VmRSS")
        let builder = try ShortLinkBuilder(path: path)
        let build = try nanoseconds {
            for number in 0..<options.records { try add(number, to: builder) }
            guard let result = try builder.finish(answer: { $0.answer(to: $1) }), result.links == options.records else {
                throw BenchmarkError(text: "not all short links were written", code: 1)
            }
        }
        report.figure("time of the build", unit: "s", [build / 1e9])
        report.figure("more memory of the build", unit: "MB", [memory("VmHWM") - before])
        let file = try ShortLinkFile(path: path)
        report.figure("bytes of a short link", unit: "bytes", [Double(file.byteCount) / Double(options.records)])
        report.figure("reading the whole file", unit: "s", [nanoseconds { _ = file.verify() } / 1e9])
        report.figure("dependent read of such memory", unit: "ns", randomReads(bytes: file.byteCount, options.rounds))
        try compare(file, options, report)
        return 0
    }

    /// Measures reads at random places of memory of a size.
    ///
    /// Each read waits for the one before. A look-up needs at least one such read, so its time says little without the
    /// machine's.
    private static func randomReads(bytes: Int, _ rounds: Int) -> [Double] {
        let count = max(bytes / 8, 1)
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        defer { words.deallocate() }
        for index in 0..<count { words[index] = UInt64(index) &* 0x9E37_79B9_7F4A_7C15 }
        var place = 1
        let values = (0..<rounds).map { _ in
            nanoseconds {
                for step in 0..<lookups {
                    let word = (words[place] &+ UInt64(step)) &* 0xD6E8_FEB8_6659_FD93
                    place = Int(truncatingIfNeeded: word.multipliedFullWidth(by: UInt64(count)).high)
                }
            } / Double(lookups)
        }
        return place < count ? values : []
    }

    /// Measures look-ups in turns with a dictionary of the same links.
    private static func compare(_ file: ShortLinkFile, _ options: BenchmarkOptions, _ report: Report) throws {
        var dictionary: [String: String] = [:]
        dictionary.reserveCapacity(options.records)
        for number in 0..<options.records { dictionary[key(number)] = destination(number) }
        for isKnown in [true, false] {
            var (mine, theirs) = ([Double](), [Double]())
            for round in 0..<options.rounds {
                let numbers = (0..<lookups).map { index in
                    let mixed = UInt64(index + round * lookups) &* 0x9E37_79B9_7F4A_7C15
                    return Int(mixed % UInt64(options.records)) + (isKnown ? 0 : options.records)
                }
                let keys = numbers.map(key)
                // A worker has just read the link, so the links are beside each other, where no read waits for memory.
                var links: [UInt8] = []
                let ends = keys.map { key in
                    links += Array("https://\(key)".utf8)
                    return links.count
                }
                var found = (mine: 0, theirs: 0)
                mine.append(
                    nanoseconds {
                        links.withUnsafeBufferPointer { bytes in
                            let all = ByteView(bytes)
                            var start = 0
                            for end in ends {
                                if let answer = file.answer(to: all.slice(start, end)), answer.destination.count > 10 {
                                    found.mine += 1
                                }
                                start = end
                            }
                        }
                    } / Double(lookups))
                theirs.append(
                    nanoseconds {
                        for key in keys where (dictionary[key]?.utf8.count ?? 0) > 10 { found.theirs += 1 }
                    } / Double(lookups))
                let expected = isKnown ? lookups : 0
                guard found.mine == expected, found.theirs == expected else {
                    throw BenchmarkError(text: "a look-up has a wrong result", code: 1)
                }
            }
            report.figure(
                isKnown ? "look-up, link in the file" : "look-up, other link of the host", unit: "ns",
                mine, baseline: ("Dictionary", theirs))
        }
    }

    private static func add(_ number: Int, to builder: ShortLinkBuilder) throws {
        let isAdded = try Array("https://\(key(number))".utf8).withUnsafeBufferPointer { link in
            try Array(destination(number).utf8).withUnsafeBufferPointer { destination in
                let row = try ShortLinkRow(link: ByteView(link), destination: ByteView(destination))
                return try builder.add(
                    host: row.host, tail: row.tail, destination: row.destination,
                    at: ShortLinkBuilder.Place(file: 0, line: number + 1))
            }
        }
        guard isAdded else { throw BenchmarkError(text: "a short link was not added", code: 1) }
    }

    /// A short link without its scheme, with the form of a code of Firebase Dynamic Links.
    private static func key(_ number: Int) -> String {
        "shop.page.link/" + String(UInt64(number) &* 0xD6E8_FEB8_6659_FD93, radix: 36)
    }

    private static func destination(_ number: Int) -> String {
        "https://shop.example/products/\(number)?utm_source=poster&utm_campaign=c\(number % 1000)"
    }

    /// A value of the process's memory, in MB.
    private static func memory(_ name: String) -> Double {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
        return (line.split { !$0.isNumber }.first.flatMap { Double($0) } ?? 0) * 1024 / 1e6
    }
}
