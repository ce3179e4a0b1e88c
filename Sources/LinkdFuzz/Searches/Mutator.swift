/// A mutator that changes inputs of a target according to their meaning.
package struct Mutator {
    private let target: FuzzTarget
    private let environments: [FuzzEnvironment]
    private let seeds: [[UInt8]]
    /// The mutation of the target `ingest`, or nil for another target.
    private let ingest: IngestMutation?
    /// The mutation of the target `statistics`, or nil for another target.
    private let statistics: JSONMutation?

    /// Creates a mutator for a target.
    package init(_ target: FuzzTarget, environments: [FuzzEnvironment]) {
        self.target = target
        self.environments = environments
        // The tables to combine with others. Other targets need none.
        seeds = target == .tables ? (try? Seeds.generatedInputs(of: .tables, environments: environments)) ?? [] : []
        ingest = target == .ingest ? try? Self.ingestMutation() : nil
        statistics = target == .statistics ? try? Self.statisticsMutation() : nil
    }

    private static func ingestMutation() throws -> IngestMutation {
        IngestMutation(
            try FuzzEnvironment.ingest()[1].words, seeds: try IngestSeeds.records(), allowsLarge: false)
    }

    private static func statisticsMutation() throws -> JSONMutation {
        JSONMutation(Vocabulary(membersOf: try Seeds.statistics()), hasGroups: true)
    }

    /// Changes an input once or several times.
    package func change(_ input: inout [UInt8], _ random: inout RandomSource) {
        for _ in 0...(random.one(in: 2) ? 0 : random.below(5)) { changeOnce(&input, &random) }
    }

    private func changeOnce(_ input: inout [UInt8], _ random: inout RandomSource) {
        switch target {
        case .events: changeEvent(&input, &random)
        case .links: changeLink(&input, &random)
        case .tables: changeTable(&input, &random)
        case .sequences: changeSequence(&input, &random)
        case .ingest: changeIngest(&input, &random)
        case .statistics: statistics?.change(&input, &random)
        case .shortlinks: changeShortLinks(&input, &random)
        case .imports: changeImport(&input, &random)
        }
    }

    /// Returns the end of the first line.
    ///
    /// Adds a line if the input is empty.
    private func headEnd(_ input: inout [UInt8]) -> Int {
        if input.isEmpty { input = Array("a\n".utf8) }
        return input.firstIndex(of: UInt8(ascii: "\n")) ?? input.count
    }

    private func changeEvent(_ input: inout [UInt8], _ random: inout RandomSource) {
        let end = headEnd(&input)
        var letter = input[0] | 0x20
        var hasGroups = input[0] & 0x20 == 0
        if random.one(in: 12) { letter = FuzzEnvironment.name(of: random.below(environments.count)) }
        if random.one(in: 12) { hasGroups.toggle() }
        let words = FuzzEnvironment.named(letter, of: environments).words
        var value = Array(input.dropFirst(end + 1))
        if random.one(in: 20) || value.isEmpty {
            var generator = EventGenerator(words)
            generator.begin(producers: 1, deviation: 3, &random)
            value = generator.record(&random)
        } else {
            JSONMutation(words, hasGroups: hasGroups).change(&value, &random)
        }
        input = [hasGroups ? letter & ~0x20 : letter] + input[..<end].dropFirst() + [UInt8(ascii: "\n")] + value
    }

    private func changeIngest(_ input: inout [UInt8], _ random: inout RandomSource) {
        var (letter, record) = IngestInput.record(input)
        if random.one(in: 12) { letter = FuzzEnvironment.name(of: random.below(5)) }
        ingest?.change(&record, &random)
        input = IngestInput.input(record, letter: letter)
    }

    private func changeLink(_ input: inout [UInt8], _ random: inout RandomSource) {
        let end = headEnd(&input)
        var letters = Array(input[..<end].prefix(3))
        while letters.count < 3 { letters.append(UInt8(ascii: "a")) }
        if random.one(in: 6) { letters[random.below(3)] = UInt8(ascii: "a") + UInt8(random.below(8)) }
        let generator = LinkGenerator(FuzzEnvironment.named(letters[0], of: environments).words)
        var link = String(decoding: input.dropFirst(end + 1), as: UTF8.self)
        switch random.below(6) {
        case 0: link = generator.link(&random)
        case 1: link += (link.contains("?") ? "&" : "?") + generator.query(&random)
        case 2: link += generator.text(&random)
        case 3:
            let text = generator.text(&random)
            let position = link.unicodeScalars.index(
                link.startIndex, offsetBy: random.below(link.unicodeScalars.count + 1))
            link =
                String(link.unicodeScalars[..<position]) + String(repeating: text, count: 1 + random.below(3))
                + String(link.unicodeScalars[position...])
        case 4:
            link =
                link.split(separator: "/", maxSplits: 2).first.map {
                    "\($0)//" + generator.host(&random) + generator.path(&random)
                }
                ?? ""
        default: link = link.replacing("/", with: generator.text(&random) + "/", maxReplacements: 1 + random.below(3))
        }
        input = letters + [UInt8(ascii: "\n")] + Array(link.utf8)
    }

    private func changeTable(_ input: inout [UInt8], _ random: inout RandomSource) {
        let zero = input.firstIndex(of: 0) ?? input.count
        var file = Array(input[..<zero])
        let rest = input[zero...]
        let words = random.one(in: 3) ? random.pick(environments).words : Vocabulary(tables: [file])
        if random.one(in: 8), let donor = seeds.randomElement(using: &random) {
            cross(&file, with: donor, &random)
        } else {
            JSONMutation(words, hasGroups: false).change(&file, &random)
        }
        input = file + rest
    }

    /// Replaces a value with one of another table.
    private func cross(_ file: inout [UInt8], with donor: [UInt8], _ random: inout RandomSource) {
        let own = JSONTokens(file)
        let other = JSONTokens(donor)
        guard let position = own.indices(of: [.string, .scalar, .open]).randomElement(using: &random),
            let source = other.indices(of: [.string, .open]).randomElement(using: &random)
        else { return }
        file.replaceSubrange(own.value(at: position), with: donor[other.value(at: source)])
    }

    private func changeSequence(_ input: inout [UInt8], _ random: inout RandomSource) {
        let end = headEnd(&input)
        var head = Array(input[..<end])
        if head.isEmpty || random.one(in: 20) { head = [FuzzEnvironment.name(of: random.below(environments.count))] }
        let words = FuzzEnvironment.named(head[0], of: environments).words
        let body = input.dropFirst(end + 1)
        var lines = body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        let position = random.below(lines.count + 1)
        var generator = EventGenerator(words)
        switch lines.isEmpty ? 0 : random.below(11) {
        case 0: lines.insert(contentsOf: (0...random.below(4)).map { _ in generator.record(&random) }, at: position)
        case 1: lines.insert(random.pick(lines), at: position)
        case 2: lines.swapAt(random.below(lines.count), random.below(lines.count))
        case 3: lines.remove(at: random.below(lines.count))
        case 4: lines.insert([], at: position)
        case 5: repeatLine(&lines[random.below(lines.count)], &random)
        default:
            var line = random.pick(lines)
            // Keeps the record and adds a changed copy, which deviates from the form that the reader learned from it.
            JSONMutation(words, hasGroups: false).change(&line, &random)
            line = line.map { $0 == UInt8(ascii: "\n") ? 0x20 : $0 }
            if random.one(in: 2) { lines.insert(line, at: position) } else { lines[random.below(lines.count)] = line }
        }
        input = head + [UInt8(ascii: "\n")] + Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// Changes the repetition of a record.
    private func repeatLine(_ line: inout [UInt8], _ random: inout RandomSource) {
        if line.first == UInt8(ascii: "@"), let blank = line.firstIndex(of: UInt8(ascii: " ")) {
            line.removeSubrange(...blank)
            if random.one(in: 4) { return }
        }
        line = Array("@\(random.pick([2, 2, 3, 5, 8, 20, 40, 300, 1_600])) ".utf8) + line
    }

    /// Changes a byte, or a row of a file of short links.
    private func changeShortLinks(_ input: inout [UInt8], _ random: inout RandomSource) {
        let end = headEnd(&input)
        guard input.first == UInt8(ascii: "r") else {
            let byte = UInt8(random.below(256))
            let place = end + 1 + random.below(input.count - end)
            if place < input.count { input[place] = byte } else { input += [byte, byte, byte, byte] }
            return
        }
        let links = LinkGenerator(environments[0].words)
        var lines = input.dropFirst(end + 1).split(separator: UInt8(ascii: "\n")).map(Array.init)
        let other = String(decoding: random.pick(lines, else: []).prefix { $0 != UInt8(ascii: "\t") }, as: UTF8.self)
        let key = random.one(in: 2) ? other : "go.example/" + links.text(&random).filter { $0 != "\n" && $0 != "\t" }
        let destination =
            switch random.below(4) {
            case 0: "https://" + other
            case 1: "https://www.google.com/url?utm_source=a&q=https%3A%2F%2F" + other
            default: links.link(&random).filter { $0 != "\n" }
            }
        if lines.count > 1 { lines.remove(at: random.below(lines.count)) }
        lines.insert(Array("\(key)\t\(destination)".utf8), at: random.below(lines.count + 1))
        input = input[...min(end, input.count - 1)] + Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// Pieces of the files of `routes import`.
    private static let pieces = [
        "&amp;", "&#x2A;", "&#0;", "&x;", "<!DOCTYPE a [<!ENTITY x \"y\">]>", "<![CDATA[<data/>]]>", "<!-- -- -->",
        "<?x?>",
        "<data android:pathPattern=\"/.*a.*b\"/>", "<data android:pathAdvancedPattern=\"/[a-z]+/x{2,9}\"/>",
        "<data android:scheme=\"https\" android:host=\"*.shop.example\" android:port=\"1\"/>", "<intent-filter>",
        "</intent-filter>", "android:pathPrefix=\"/\"", "xmlns:android=\"x\"", "${host}", "@string/a", "*", "?", "?*",
        "/",
        "{\"/\":\"/a/*/b?\",\"exclude\":true},", "{\"?\":{\"q\":\"?*\"},\"#\":\"a\",\"caseSensitive\":false},",
        "NOT ", "$(lang)", ":id", ":id?", ":id(\\\\d+)", "\"exact\":true,", "\"alias\":[\"b\",{\"path\":\"c/*\"}],",
        "\"X\":{\"path\":\"x\",\"screens\":{\"Y\":\":a/y\"}},",
    ].map { Array($0.utf8) }

    private func changeImport(_ input: inout [UInt8], _ random: inout RandomSource) {
        let end = headEnd(&input)
        let head = input[..<end]
        var body = Array(input.dropFirst(end + 1))
        let position = random.below(body.count + 1)
        let stop = min(body.count, position + random.below(random.one(in: 4) ? 200 : 12))
        switch random.below(8) {
        case 0: body.removeSubrange(position..<stop)
        case 1: body.insert(contentsOf: Array(body[position..<stop]), at: random.below(body.count + 1))
        case 2: for _ in 0..<random.below(20) { body.insert(contentsOf: Array(body[position..<stop]), at: position) }
        case 3, 4: body.insert(contentsOf: random.pick(Self.pieces), at: position)
        case 5: if position < stop { body[position] = UInt8(random.below(256)) }
        default: JSONMutation(environments[0].words, hasGroups: false).change(&body, &random)
        }
        input = head + [UInt8(ascii: "\n")] + body
    }
}
