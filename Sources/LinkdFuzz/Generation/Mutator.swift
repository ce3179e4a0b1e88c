/// A mutator that changes inputs of a target according to their meaning.
package struct Mutator {
    private let target: FuzzTarget
    private let worlds: [World]
    private let seeds: [[UInt8]]

    /// Creates a mutator for a target.
    package init(_ target: FuzzTarget, worlds: [World]) {
        self.target = target
        self.worlds = worlds
        // The tables to combine with others. Other targets need none.
        seeds = target == .tables ? (try? Seeds.made(.tables, worlds: worlds)) ?? [] : []
    }

    /// Changes an input once or several times.
    package func change(_ input: inout [UInt8], _ dice: inout Dice) {
        for _ in 0...(dice.one(in: 2) ? 0 : dice.below(5)) { changeOnce(&input, &dice) }
    }

    private func changeOnce(_ input: inout [UInt8], _ dice: inout Dice) {
        switch target {
        case .events: changeEvent(&input, &dice)
        case .links: changeLink(&input, &dice)
        case .tables: changeTable(&input, &dice)
        case .sequences: changeSequence(&input, &dice)
        }
    }

    /// Returns the end of the first line. Adds a line if the input is empty.
    private func headEnd(_ input: inout [UInt8]) -> Int {
        if input.isEmpty { input = Array("a\n".utf8) }
        return input.firstIndex(of: UInt8(ascii: "\n")) ?? input.count
    }

    private func changeEvent(_ input: inout [UInt8], _ dice: inout Dice) {
        let end = headEnd(&input)
        var letter = input[0] | 0x20
        var hasGroups = input[0] & 0x20 == 0
        if dice.one(in: 12) { letter = World.name(of: dice.below(worlds.count)) }
        if dice.one(in: 12) { hasGroups.toggle() }
        let words = World.named(letter, of: worlds).words
        var value = Array(input.dropFirst(end + 1))
        if dice.one(in: 20) || value.isEmpty {
            var maker = EventMaker(words)
            maker.begin(producers: 1, betrayal: 3, &dice)
            value = maker.record(&dice)
        } else {
            JSONMutation(words, hasGroups: hasGroups).change(&value, &dice)
        }
        input = [hasGroups ? letter & ~0x20 : letter] + input[..<end].dropFirst() + [UInt8(ascii: "\n")] + value
    }

    private func changeLink(_ input: inout [UInt8], _ dice: inout Dice) {
        let end = headEnd(&input)
        var letters = Array(input[..<end].prefix(3))
        while letters.count < 3 { letters.append(UInt8(ascii: "a")) }
        if dice.one(in: 6) { letters[dice.below(3)] = UInt8(ascii: "a") + UInt8(dice.below(8)) }
        let maker = LinkMaker(World.named(letters[0], of: worlds).words)
        var link = String(decoding: input.dropFirst(end + 1), as: UTF8.self)
        switch dice.below(6) {
        case 0: link = maker.link(&dice)
        case 1: link += (link.contains("?") ? "&" : "?") + maker.query(&dice)
        case 2: link += maker.text(&dice)
        case 3:
            let text = maker.text(&dice)
            let place = link.unicodeScalars.index(link.startIndex, offsetBy: dice.below(link.unicodeScalars.count + 1))
            link =
                String(link.unicodeScalars[..<place]) + String(repeating: text, count: 1 + dice.below(3))
                + String(link.unicodeScalars[place...])
        case 4:
            link =
                link.split(separator: "/", maxSplits: 2).first.map { "\($0)//" + maker.host(&dice) + maker.path(&dice) }
                ?? ""
        default: link = link.replacing("/", with: maker.text(&dice) + "/", maxReplacements: 1 + dice.below(3))
        }
        input = letters + [UInt8(ascii: "\n")] + Array(link.utf8)
    }

    private func changeTable(_ input: inout [UInt8], _ dice: inout Dice) {
        let zero = input.firstIndex(of: 0) ?? input.count
        var file = Array(input[..<zero])
        let rest = input[zero...]
        let words = dice.one(in: 3) ? dice.pick(worlds).words : Vocabulary(tables: [file])
        if dice.one(in: 8), let donor = seeds.randomElement(using: &dice) {
            cross(&file, with: donor, &dice)
        } else {
            JSONMutation(words, hasGroups: false).change(&file, &dice)
        }
        input = file + rest
    }

    /// Replaces a value with one of another table.
    private func cross(_ file: inout [UInt8], with donor: [UInt8], _ dice: inout Dice) {
        let own = JSONTokens(file)
        let other = JSONTokens(donor)
        guard let place = own.indices(of: [.string, .scalar, .open]).randomElement(using: &dice),
            let source = other.indices(of: [.string, .open]).randomElement(using: &dice)
        else { return }
        file.replaceSubrange(own.value(at: place), with: donor[other.value(at: source)])
    }

    private func changeSequence(_ input: inout [UInt8], _ dice: inout Dice) {
        let end = headEnd(&input)
        var head = Array(input[..<end])
        if head.isEmpty || dice.one(in: 20) { head = [World.name(of: dice.below(worlds.count))] }
        let words = World.named(head[0], of: worlds).words
        let body = input.dropFirst(end + 1)
        var lines = body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        let place = dice.below(lines.count + 1)
        var maker = EventMaker(words)
        switch lines.isEmpty ? 0 : dice.below(11) {
        case 0: lines.insert(contentsOf: (0...dice.below(4)).map { _ in maker.record(&dice) }, at: place)
        case 1: lines.insert(dice.pick(lines), at: place)
        case 2: lines.swapAt(dice.below(lines.count), dice.below(lines.count))
        case 3: lines.remove(at: dice.below(lines.count))
        case 4: lines.insert([], at: place)
        case 5: repeatLine(&lines[dice.below(lines.count)], &dice)
        default:
            var line = dice.pick(lines)
            // Keeps the record beside a changed copy, so that the copy deviates from what the record taught.
            JSONMutation(words, hasGroups: false).change(&line, &dice)
            line = line.map { $0 == UInt8(ascii: "\n") ? 0x20 : $0 }
            if dice.one(in: 2) { lines.insert(line, at: place) } else { lines[dice.below(lines.count)] = line }
        }
        input = head + [UInt8(ascii: "\n")] + Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// Changes the repetition of a record.
    private func repeatLine(_ line: inout [UInt8], _ dice: inout Dice) {
        if line.first == UInt8(ascii: "@"), let blank = line.firstIndex(of: UInt8(ascii: " ")) {
            line.removeSubrange(...blank)
            if dice.one(in: 4) { return }
        }
        line = Array("@\(dice.pick([2, 2, 3, 5, 8, 20, 40, 300, 1_600])) ".utf8) + line
    }
}
