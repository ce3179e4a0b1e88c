internal import LinkCoordinator
internal import StrictJSON

/// Values for the sources that some routes bind from: one list that fits, and others that differ from it in one source.
struct ValueProbes {
    /// Values that are valid for as many types as possible.
    let fitting: RequestValues
    /// Lists that differ from the fitting one in one source, and one list without any values.
    private(set) var others: [RequestValues] = []

    private let dependencies: Dependencies
    private let samples: [ValueSamples]

    /// Creates values in addition to those that a link must have.
    init(_ dependencies: Dependencies, beside items: [QueryConstraints.Item]) {
        self.dependencies = dependencies
        samples = dependencies.inputs.map { ValueSamples($0.types, strict: $0.strict) }
        let bare = RequestValues(items)
        var fitting = bare
        for (input, samples) in zip(dependencies.inputs, samples) {
            if case .query(let name) = input.source, fitting.has(name) { continue }
            Self.put(samples.texts.first.map { .text($0, samples.fittingCount) }, at: input.source, &fitting)
        }
        self.fitting = fitting
        for index in dependencies.inputs.indices { others += changed(index) }
        others.append(bare)
    }

    private enum Value {
        case text(String, Int)
        case null
        case json(JSONValue)
    }

    private static func put(_ value: Value?, at source: ValueSource, _ values: inout RequestValues) {
        switch (source, value) {
        case (.query(let name), .text(let text, let count)?): values.set(name, Array(repeating: text, count: count))
        case (.query(let name), .null?): values.set(name, [nil])
        case (.query(let name), nil): values.set(name, [])
        case (.fragment, .text(let text, _)?): values.fragment = text
        case (.fragment, nil): values.fragment = nil
        case (.payload(let pointer), .text(let text, 1)?): values.set(pointer, JSONValue(.string(text)))
        case (.payload(let pointer), .text(let text, let count)?):
            values.set(pointer, JSONValue(.array(Array(repeating: JSONValue(.string(text)), count: count))))
        case (.payload(let pointer), .null?): values.set(pointer, JSONValue(.null))
        case (.payload(let pointer), .json(let json)?): values.set(pointer, json)
        case (.payload(let pointer), nil): values.set(pointer, nil)
        case (.path, _), (.rewrite, _), (.fragment, _), (.query, .json?): break
        }
    }

    /// Returns the values of one source other than the fitting one: none, null, each text, and each number of items.
    private func values(_ index: Int) -> [Value?] {
        let (source, samples) = (dependencies.inputs[index].source, samples[index])
        switch source {
        case .path, .rewrite: return []
        case .fragment: return [nil] + samples.texts.dropFirst().map { .text($0, 1) }
        case .query, .payload:
            let first = samples.texts.first ?? ""
            var all: [Value?] = [nil, .null] + samples.texts.dropFirst().map { .text($0, 1) }
            all += samples.counts.filter { $0 != samples.fittingCount }.map { .text(first, $0) }
            guard case .payload = source else { return all }
            for text in samples.texts {
                // A payload can contain a number or a Boolean, but a link only contains its text.
                if let json = try? JSONValue.parse(Array(text.utf8)), json.string == nil { all.append(.json(json)) }
            }
            return all + [.json(JSONValue(.object([]))), .json(JSONValue(.array([])))]
        }
    }

    private func changed(_ index: Int) -> [RequestValues] {
        values(index).map { value in
            var next = fitting
            Self.put(value, at: dependencies.inputs[index].source, &next)
            return next
        }
    }

    /// The fitting values with two missing or invalid sources, for tables that evaluate them in different orders.
    var pairs: [RequestValues] {
        let invalidValues = dependencies.inputs.indices.map {
            Array(values($0).filter { $0.map(Self.isText) ?? true }.prefix(3))
        }
        var pairs: [RequestValues] = []
        for first in dependencies.inputs.indices {
            for second in dependencies.inputs.indices where second > first {
                for a in invalidValues[first] {
                    for b in invalidValues[second] {
                        var next = fitting
                        Self.put(a, at: dependencies.inputs[first].source, &next)
                        Self.put(b, at: dependencies.inputs[second].source, &next)
                        pairs.append(next)
                    }
                }
            }
        }
        return pairs
    }

    private static func isText(_ value: Value) -> Bool { if case .text = value { true } else { false } }

    /// Returns texts for a capture of a path or a rewrite.
    func texts(_ index: Int) -> [String] { samples[index].texts.filter { !$0.isEmpty } }

    /// Returns texts for a capture of a path or a rewrite that are valid for one of its fields' types, the best first.
    func fittingTexts(_ index: Int) -> [String] { samples[index].fitting.filter { !$0.isEmpty } }

    /// Returns numbers of segments for a tail that is bound to a list.
    func counts(_ index: Int) -> [Int] { samples[index].counts }
}
