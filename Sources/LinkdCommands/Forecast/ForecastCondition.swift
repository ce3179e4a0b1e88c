internal import RouteAnalysis

/// The search for what distinguishes the devices of the rows of a forecast.
struct ForecastCondition {
    /// The kinds whose answers are changed to find the questions that matter, of all rows together.
    private static let maxTries = 16
    /// The limit of alternatives in a condition.
    private static let maxParts = 3

    private let census: DeviceCensus
    private let rows: [LinkForecast.Row]
    /// The answers of the devices of each row, by question: whether there is a device with the answer.
    private let answers: [[[Bool]]]
    /// The numbers of the questions that matter.
    private let questions: [Int]
    /// The answers of no device, by row and question about versions, with which its devices would still open the same.
    private let possible: [[Set<UInt16>]]

    /// Finds the questions that matter: another answer to them changes what opens.
    ///
    /// - Parameter decide: A function that returns the numbers of the link's destinations for devices of some kinds.
    init(_ forecast: LinkForecast, _ census: DeviceCensus, _ decide: ([DeviceKinds.Kind]) -> [Int?]) {
        self.census = census
        let rows = forecast.rows
        self.rows = rows
        guard rows.count > 1 else {
            (answers, questions, possible) = ([], [], [])
            return
        }
        let answers = rows.map { Self.answers($0.kinds, census) }
        self.answers = answers
        let tries = max(1, Self.maxTries / rows.count)
        var possible = rows.map { _ in census.kinds.questions.map { _ in Set<UInt16>() } }
        questions = census.kinds.questions.indices.filter { question in
            let all = census.kinds.questions[question].answers
            let present = all.filter { answer in answers.contains { $0[question][Int(answer)] } }
            guard present.count > 1 else { return false }
            // Only ranges of versions end at answers of no device.
            let tried = census.kinds.questions[question].isVersion ? Array(all) : present
            var changed: [DeviceKinds.Kind] = []
            var places: [(row: Int, answer: UInt16)] = []
            for (number, row) in rows.enumerated() {
                let count = min(tries, row.kinds.count)
                for index in 0..<count {
                    var kind = census.entries[row.kinds[index * row.kinds.count / count]].kind
                    let own = kind[question]
                    for answer in tried where answer != own {
                        kind[question] = answer
                        changed.append(kind)
                        places.append((number, answer))
                    }
                }
                possible[number][question] = Set(all).subtracting(present)
            }
            var matters = false
            for (place, destination) in zip(places, decide(changed)) where destination != rows[place.row].number {
                if possible[place.row][question].remove(place.answer) == nil, present.contains(place.answer) {
                    matters = true
                }
            }
            return matters
        }
        self.possible = possible
    }

    private static func answers(_ kinds: [Int], _ census: DeviceCensus) -> [[Bool]] {
        let questions = census.kinds.questions
        return questions.indices.map { question in
            var found = Array(repeating: false, count: questions[question].answers.count)
            census.answers.withUnsafeBufferPointer { answers in
                for number in kinds { found[Int(answers[number * questions.count + question])] = true }
            }
            return found
        }
    }

    /// Returns what distinguishes the devices of a row from all other devices, or nil if no short text does.
    func text(of row: LinkForecast.Row) -> String? {
        guard let index = rows.firstIndex(where: { $0.destination == row.destination }), !answers.isEmpty else {
            return nil
        }
        let others = rows.indices.filter { $0 != index }
        let otherAnswers = census.kinds.questions.indices.map { question in
            answers[index][question].indices.map { answer in others.contains { answers[$0][question][answer] } }
        }
        if let text = conjunction(answers[index], possible[index], others, otherAnswers) { return text }
        let count = census.kinds.questions.count
        for question in questions {
            let own = answers[index][question].indices.filter { answers[index][question][$0] }
            guard (2...Self.maxParts).contains(own.count) else { continue }
            var texts: [String] = []
            for answer in own {
                let kinds = row.kinds.filter { census.answers[$0 * count + question] == UInt16(answer) }
                guard let text = conjunction(Self.answers(kinds, census), possible[index], others, otherAnswers) else {
                    break
                }
                texts.append(text)
            }
            if texts.count == own.count { return texts.joined(separator: "; or ") }
        }
        return nil
    }

    /// Returns a condition that all kinds with some answers meet and no kinds of other rows, or nil if there seems to
    /// be none.
    ///
    /// - Parameters:
    ///   - own: The answers of the kinds.
    ///   - possible: The answers of no device with which the kinds would open the same.
    ///   - others: The other rows.
    ///   - otherAnswers: The answers of the kinds of these rows.
    private func conjunction(
        _ own: [[Bool]], _ possible: [Set<UInt16>], _ others: [Int], _ otherAnswers: [[Bool]]
    ) -> String? {
        func words(_ question: Int) -> String {
            let answers = census.kinds.questions[question].answers
            let mine = Set(answers.filter { own[question][Int($0)] })
            var rest = Set(answers.filter { otherAnswers[question][Int($0)] }).subtracting(mine)
            if census.kinds.questions[question].isVersion {
                // A range of versions ends where other versions would open something else.
                rest.formUnion(
                    answers.filter { answer in
                        answer > 0 && !mine.contains(answer) && !otherAnswers[question][Int(answer)]
                            && !possible[question].contains(answer)
                    })
            }
            return census.kinds.questions[question].words(mine, among: rest)
        }
        let pairs = questions.map { (question: $0, pairs: zip(own[$0], otherAnswers[$0])) }
        if let single = pairs.first(where: { $0.pairs.allSatisfy { !($0 && $1) } }) { return words(single.question) }
        // All flags of `own` in one list, in which the answers of many kinds are found faster.
        let flags = own.flatMap(\.self)
        let starts = own.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
        var needed = pairs.filter { $0.pairs.contains { !$0 && $1 } }.map(\.question)
        func isExact(_ questions: [Int]) -> Bool {
            let columns = questions.map { (question: $0, start: starts[$0]) }
            let width = census.kinds.questions.count
            return census.answers.withUnsafeBufferPointer { answers in
                flags.withUnsafeBufferPointer { flags in
                    !others.contains { other in
                        rows[other].kinds.contains { number in
                            columns.allSatisfy { flags[$0.start + Int(answers[number * width + $0.question])] }
                        }
                    }
                }
            }
        }
        guard !needed.isEmpty, isExact(needed) else { return nil }
        for question in needed {
            let rest = needed.filter { $0 != question }
            if !rest.isEmpty, isExact(rest) { needed = rest }
        }
        return needed.map(words).joined(separator: ", ")
    }
}
