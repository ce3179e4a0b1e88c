internal import ByteStorage
package import LinkCoordinator

/// The kinds of devices that tables distinguish.
///
/// Two devices of one kind get the same decisions, apart from their ids. Each fact that the tables ask about is a
/// question, and a kind has the number of one answer for each. An unknown version is an answer of its own.
package struct DeviceKinds: Sendable {
    /// The numbers of the answers, one for each question.
    package typealias Kind = [UInt16]

    /// The questions, in the order of the answers.
    package private(set) var questions: [DeviceQuestion]

    /// Collects the questions of some tables.
    ///
    /// - Parameters:
    ///   - tables: The tables.
    ///   - platforms: Platforms to distinguish in addition to the platforms that the tables name.
    package init(_ tables: [RouteTable], platforms: [String]) {
        let asked = DeviceQuestions(tables.map(\.source))
        var questions: [DeviceQuestion] = []
        func add(_ fact: DeviceFact, _ named: [String]) { questions.append(DeviceQuestion(fact, named)) }
        for fact in [DeviceFact.app, .os] {
            guard let versions = asked.versions[fact] else { continue }
            var distinct: [VersionText] = []
            for version in versions.sorted(by: { $0.order($1) < 0 }) where distinct.last?.order(version) != 0 {
                distinct.append(version)
            }
            add(fact, distinct.map(\.text))
        }
        add(.platform, Self.folded(platforms + (asked.texts[.platform] ?? [])))
        if let regions = asked.texts[.region] { add(.region, Self.folded(regions)) }
        if let locales = asked.texts[.locale] {
            add(.locale, Self.folded(locales.map { $0.replacing("_", with: "-") }))
        }
        let names = asked.texts.keys.sorted { "\($0)" < "\($1)" }
        for fact in names {
            switch fact {
            case .claim(let name), .listed(let name): add(fact, [name])
            case .attribute: add(fact, Array(Set(asked.texts[fact] ?? [])).sorted())
            case .app, .os, .platform, .region, .locale, .coordinator, .query: continue
            }
        }
        let coordinators = Set(tables.flatMap { $0.source.coordinators.map(\.name.value) })
        if !coordinators.isEmpty { add(.coordinator, coordinators.sorted()) }
        self.questions = questions
    }

    /// Creates the kinds of a census from the names of the questions and the texts that they distinguish.
    ///
    /// Returns nil if a name is unknown, or if a text is no version although it is compared with versions.
    package init?(_ named: [(name: String, texts: [String])]) {
        var questions: [DeviceQuestion] = []
        for (name, texts) in named {
            guard let fact = DeviceQuestion.fact(name), texts.count < UInt16.max / 4 else { return nil }
            if fact == .app || fact == .os, !texts.allSatisfy({ VersionText($0) != nil }) { return nil }
            questions.append(DeviceQuestion(fact, texts))
        }
        self.questions = questions
    }

    /// Returns texts in lowercase, each once.
    private static func folded(_ texts: [String]) -> [String] {
        Set(texts.map(\.lowercasedASCII)).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    /// Sets `kind` to the kind of a device.
    package mutating func classify(_ device: DeviceView, into kind: inout Kind) {
        kind.removeAll(keepingCapacity: true)
        for index in questions.indices { kind.append(questions[index].answer(of: device)) }
    }

    /// Returns the facts of a device of a kind, without those that no table asks about.
    package func facts(of kind: Kind) -> DeviceFacts {
        var device = DeviceFacts()
        for (question, answer) in zip(questions, kind) {
            guard let text = question.example(of: answer) else { continue }
            DeviceSpace.set(question.fact, text, &device)
        }
        return device
    }

    /// Returns the first fact about which other kinds ask more than these, as text, or nil if there is none.
    ///
    /// If there is none, the facts of a kind of these determine a kind of the others.
    package func lacks(_ other: DeviceKinds) -> String? {
        for question in other.questions {
            guard let own = questions.first(where: { $0.fact == question.fact }) else { return question.name }
            if let text = question.named.first(where: { !own.names($0) }) { return "\(question.name) \(text)" }
        }
        return nil
    }
}

/// A fact that tables ask about, with the answers that they distinguish.
package struct DeviceQuestion: Sendable {
    let fact: DeviceFact
    /// The texts that the tables name, ascending.
    package let named: [String]
    /// A text for each answer, or nil for an unknown fact.
    private var examples: [String?]
    /// The answers of recent texts.
    private var known: [[UInt8]: UInt16] = [:]
    private let namedBytes: [[UInt8]]

    /// A Boolean value that indicates whether the answers are versions and the intervals between them, ascending.
    package var isVersion: Bool { fact == .app || fact == .os }

    /// The answers.
    package var answers: Range<UInt16> { 0..<UInt16(examples.count) }

    /// The number of texts whose answers are remembered.
    private static let knownLimit = 1 << 16

    init(_ fact: DeviceFact, _ named: [String]) {
        self.fact = fact
        self.named = named
        namedBytes = named.map { Array($0.utf8) }
        switch fact {
        case .app, .os: examples = [nil] + Self.intervals(named)
        case .platform, .region, .locale:
            // The other text has no `-`, so that it begins with no named locale.
            examples = [nil] + named.map(Optional.some) + [UnusedText.first("zz") { !named.contains($0) }]
        case .attribute, .claim, .listed, .coordinator, .query: examples = [nil] + named.map(Optional.some)
        }
    }

    /// The name of the fact, such as `app`, `attributes.tier`, or `claim session`.
    package var name: String {
        switch fact {
        case .app: "app"
        case .os: "os"
        case .platform: "platform"
        case .region: "region"
        case .locale: "locale"
        case .coordinator: "coordinator"
        case .attribute(let name): Self.attributes + name
        case .claim(let name): Self.claim + name
        case .listed(let name): Self.capability + name
        case .query(let name): "query " + name
        }
    }

    /// Returns the fact with a name, or nil if there is none.
    static func fact(_ name: String) -> DeviceFact? {
        func rest(_ prefix: String) -> String? { name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : nil }
        if let name = rest(attributes) { return .attribute(name) }
        if let name = rest(claim) { return .claim(name) }
        if let name = rest(capability) { return .listed(name) }
        return [DeviceFact.app, .os, .platform, .region, .locale, .coordinator].first {
            DeviceQuestion($0, []).name == name
        }
    }

    private static let (attributes, claim, capability) = ("attributes.", "claim ", "capability ")

    /// Returns each version, and versions below, between, and above them, or nil if there seem to be none.
    private static func intervals(_ named: [String]) -> [String?] {
        var texts: [String?] = []
        for (index, text) in named.enumerated() {
            let before = index > 0 ? named[index - 1] : nil
            let low = DeviceChoices.below(text).map { [$0] } ?? []
            let between = (before.map { DeviceSpace.above($0).texts } ?? low) + ["0-0", text + "-0"]
            texts.append(between.first { isInside($0, before, text) })
            texts.append(text)
        }
        texts.append(named.last.flatMap { last in DeviceSpace.above(last).texts.first { isInside($0, last, nil) } })
        return texts
    }

    private static func isInside(_ text: String, _ low: String?, _ high: String?) -> Bool {
        guard let version = VersionText(text) else { return false }
        return (low.flatMap(VersionText.init).map { $0.order(version) < 0 } ?? true)
            && (high.flatMap(VersionText.init).map { version.order($0) < 0 } ?? true)
    }

    /// Returns the text of an answer, or nil for an unknown fact.
    func example(of answer: UInt16) -> String? { examples[Int(answer)] }

    /// Returns a Boolean value that indicates whether the tables name a text, or one with the same meaning.
    func names(_ text: String) -> Bool {
        switch fact {
        case .app, .os: named.contains { a in VersionText(a).flatMap { v in VersionText(text).map(v.order) } == 0 }
        default: named.contains(text)
        }
    }

    /// Returns the number of the answer that a device gives.
    @inline(__always)
    mutating func answer(of device: DeviceView) -> UInt16 {
        switch fact {
        case .app: device.has(.app) ? remembered(device.app) : 0
        case .os: device.has(.os) ? remembered(device.os) : 0
        case .platform: device.has(.platform) ? remembered(device.platform) : 0
        case .region: device.has(.region) ? remembered(device.region) : 0
        case .locale: device.has(.locale) ? remembered(device.locale) : 0
        case .coordinator: device.has(.coordinator) ? remembered(device.coordinator) : 0
        case .claim: device.has(.claims) && holds(device.claims) ? 1 : 0
        case .listed: device.has(.capabilities) && holds(device.capabilities) ? 1 : 0
        case .attribute(let name): device.has(.attributes) ? attribute(name, device.attributes) : 0
        case .query: 0
        }
    }

    private func holds(_ list: UnsafeBufferPointer<ByteView>) -> Bool {
        list.contains { $0.buffer.elementsEqual(namedBytes[0]) }
    }

    private func attribute(_ name: String, _ pairs: UnsafeBufferPointer<ByteView>) -> UInt16 {
        for index in stride(from: 0, to: pairs.count - 1, by: 2) where pairs[index].buffer.elementsEqual(name.utf8) {
            let value = pairs[index + 1].buffer
            return UInt16((namedBytes.firstIndex { value.elementsEqual($0) } ?? -1) + 1)
        }
        return 0
    }

    private mutating func remembered(_ text: ByteView) -> UInt16 {
        let bytes = text.array
        if let answer = known[bytes] { return answer }
        let answer = answer(to: text)
        // Without an example, the table's versions are so close that only a device's own text shows the interval.
        if answer > 0, examples[Int(answer)] == nil { examples[Int(answer)] = text.string }
        if known.count >= Self.knownLimit { known.removeAll(keepingCapacity: true) }
        known[bytes] = answer
        return answer
    }

    private func answer(to text: ByteView) -> UInt16 {
        switch fact {
        case .app, .os: version(text)
        case .coordinator: UInt16((namedBytes.firstIndex { text.buffer.elementsEqual($0) } ?? -1) + 1)
        case .locale: longest(text)
        default:
            UInt16((namedBytes.firstIndex { Self.isEqual(text, $0) { $0 } } ?? named.count) + 1)
        }
    }

    /// Returns the number of a version or of an interval between versions, or 0 for a text that is no version.
    private func version(_ text: ByteView) -> UInt16 {
        guard let version = Version(text) else { return 0 }
        for (index, bytes) in namedBytes.enumerated() {
            let order = bytes.withUnsafeBufferPointer { bytes in
                Version(ByteView(bytes)).map { Version.compare(version, $0) } ?? 0
            }
            if order <= 0 { return UInt16(2 * index + (order < 0 ? 1 : 2)) }
        }
        return UInt16(2 * namedBytes.count + 1)
    }

    /// Returns the number of the longest named locale that a locale equals or begins with.
    private func longest(_ text: ByteView) -> UInt16 {
        var found: Int?
        for (index, bytes) in namedBytes.enumerated() where bytes.count <= text.count {
            let isWhole = bytes.count == text.count || Self.localeByte(text[bytes.count]) == UInt8(ascii: "-")
            guard isWhole, Self.isEqual(text.slice(0, bytes.count), bytes, Self.localeByte) else { continue }
            if bytes.count >= found.map({ namedBytes[$0].count }) ?? 0 { found = index }
        }
        return UInt16((found ?? named.count) + 1)
    }

    private static func localeByte(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte }

    /// Returns a Boolean value that indicates whether a text equals lowercase bytes, apart from case.
    private static func isEqual(_ text: ByteView, _ bytes: [UInt8], _ map: (UInt8) -> UInt8) -> Bool {
        text.count == bytes.count && zip(text.buffer, bytes).allSatisfy { ByteScan.foldASCII(map($0)) == $1 }
    }
}
