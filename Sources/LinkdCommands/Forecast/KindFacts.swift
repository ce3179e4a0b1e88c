internal import ByteStorage
internal import LinkCoordinator
internal import RouteAnalysis

/// The facts of devices of kinds, in the form that a decider reads.
///
/// The texts of each answer are stored once for all kinds.
final class KindFacts {
    /// A fact that an answer gives, or one that cannot be read.
    private struct Part {
        var fact: DeviceFacts.Fact
        var isKnown: Bool
        /// The text, or the name of an attribute.
        var text = ByteView.empty
        /// The value of an attribute.
        var value = ByteView.empty
    }

    /// The parts by question and answer.
    private var parts: [[Part?]] = []
    /// The fact that each question is about, as a bit, or 0 if no answer gives one.
    private(set) var bits: [UInt16] = []
    /// The number of answers to each question.
    var answerCounts: [Int] { parts.map(\.count) }
    /// The number of questions.
    let width: Int
    /// A Boolean value that indicates whether some answers cannot be read.
    private(set) var hasUnreadable = false
    private var arena = OutputArena(chunkBytes: 4096)
    /// The lists of the last device: its capabilities, its claims, and its attributes.
    private let capabilities, claims, attributes: UnsafeMutablePointer<ByteView>

    /// Reads the answers to the questions of kinds.
    init(_ kinds: DeviceKinds) {
        let count = kinds.questions.count
        width = count
        capabilities = .allocate(capacity: 4 * count)
        capabilities.initialize(repeating: .empty, count: 4 * count)
        (claims, attributes) = (capabilities + count, capabilities + 2 * count)
        var kind = DeviceKinds.Kind(repeating: 0, count: count)
        for (number, question) in kinds.questions.enumerated() {
            parts.append(
                question.answers.map { answer in
                    kind[number] = answer
                    return part(kinds.facts(of: kind))
                })
            kind[number] = 0
            bits.append(parts[number].lazy.compactMap { $0?.fact.bit }.first ?? 0)
            if parts[number].contains(where: { $0?.isKnown == false }) { hasUnreadable = true }
        }
    }

    deinit { capabilities.deallocate() }

    /// Returns the only fact of a device, or nil if there is none.
    private func part(_ device: DeviceFacts) -> Part? {
        device.withFacts { facts in
            let view = facts.pointee
            let given = view.known | view.unreadable
            guard let fact = DeviceFacts.Fact.allCases.first(where: { given & $0.bit != 0 }) else { return nil }
            var part = Part(fact: fact, isKnown: view.has(fact))
            let texts = [view.platform, view.app, view.os, view.locale, view.region, view.coordinator]
            for text in texts where !text.isEmpty { part.text = copy(text) }
            for list in [view.capabilities, view.claims, view.attributes] where !list.isEmpty {
                part.text = copy(list[0])
                if list.count > 1 { part.value = copy(list[1]) }
            }
            return part
        }
    }

    private func copy(_ text: ByteView) -> ByteView {
        arena.begin()
        arena.append(text)
        return arena.finish()
    }

    /// Returns the facts of a device of a kind, as `DeviceKinds.facts(of:)` does, which are valid until the next call.
    func view(of kind: UnsafeBufferPointer<UInt16>) -> DeviceView {
        var device = DeviceView()
        var (capabilityCount, claimCount, attributeCount) = (0, 0, 0)
        for index in kind.indices {
            guard let part = parts[index][Int(kind[index])] else { continue }
            if part.isKnown { device.setKnown(part.fact) } else { device.setUnreadable(part.fact) }
            switch part.fact {
            case .platform: device.platform = part.text
            case .app: device.app = part.text
            case .os: device.os = part.text
            case .locale: device.locale = part.text
            case .region: device.region = part.text
            case .coordinator: device.coordinator = part.text
            case .capabilities:
                capabilities[capabilityCount] = part.text
                capabilityCount += 1
            case .claims:
                claims[claimCount] = part.text
                claimCount += 1
            case .attributes:
                attributes[attributeCount] = part.text
                attributes[attributeCount + 1] = part.value
                attributeCount += 2
            }
        }
        device.capabilities = UnsafeBufferPointer(start: capabilities, count: capabilityCount)
        device.claims = UnsafeBufferPointer(start: claims, count: claimCount)
        device.attributes = UnsafeBufferPointer(start: attributes, count: attributeCount)
        // A list with an element that cannot be read is unknown.
        device.known &= ~device.unreadable
        return device
    }
}

/// The destinations of a link on devices of kinds that differ only in facts about which the link does not ask.
///
/// Devices with the same answers to the questions that a decision has asked get the same decision, so that it is made
/// once.
final class AnsweredKinds {
    /// The limit of groups.
    private static let maxGroups = 8
    /// The limit of positions in a group, of 4 bytes each.
    private static let maxPositions = 1 << 16

    /// The answer to a question as a part of a position in a group.
    private struct Digit {
        /// 0 if the question does not count.
        var factor: Int32 = 0
        /// The answers from which on all count the same.
        var limit: UInt16 = 0
    }

    private let facts: KindFacts
    /// The facts that the decisions of a group have asked about, as bits.
    private var groups: [UInt16] = []
    /// The digits of all groups.
    private let digits: UnsafeMutablePointer<Digit>
    /// The destinations of a group by position, or -1, and nil if there would be too many.
    private let destinations: UnsafeMutablePointer<UnsafeMutablePointer<Int32>?>

    /// Creates destinations of no device.
    init(_ facts: KindFacts) {
        self.facts = facts
        digits = .allocate(capacity: Self.maxGroups * facts.width)
        digits.initialize(repeating: Digit(), count: Self.maxGroups * facts.width)
        destinations = .allocate(capacity: Self.maxGroups)
        destinations.initialize(repeating: nil, count: Self.maxGroups)
    }

    deinit {
        for group in groups.indices { destinations[group]?.deallocate() }
        destinations.deallocate()
        digits.deallocate()
    }

    /// Returns the destination on the devices of a kind, or nil if it is not known.
    func destination(of kind: UnsafeBufferPointer<UInt16>) -> Int? {
        for group in 0..<groups.count {
            guard let found = destinations[group]?[position(of: kind, in: group)], found >= 0 else { continue }
            return Int(found)
        }
        return nil
    }

    private func position(of kind: UnsafeBufferPointer<UInt16>, in group: Int) -> Int {
        let digits = digits + group * facts.width
        var sum: Int32 = 0
        for index in 0..<kind.count {
            sum &+= digits[index].factor &* Int32(truncatingIfNeeded: min(kind[index], digits[index].limit))
        }
        return Int(sum)
    }

    /// Adds the destination on the devices of a kind.
    ///
    /// - Parameter asked: The facts that the decision has asked about, as bits.
    func add(_ kind: UnsafeBufferPointer<UInt16>, _ asked: UInt16, _ destination: Int) {
        // Every decision has a note about each fact that cannot be read.
        if facts.hasUnreadable { return }
        guard let group = groups.firstIndex(of: asked) ?? newGroup(asked) else { return }
        destinations[group]?[position(of: kind, in: group)] = Int32(destination)
    }

    /// Adds a group without destinations, or returns nil if there are too many.
    private func newGroup(_ asked: UInt16) -> Int? {
        guard groups.count < Self.maxGroups else { return nil }
        let group = groups.count
        groups.append(asked)
        var count = 1
        for (index, answers) in facts.answerCounts.enumerated() {
            var limit = facts.bits[index] & asked == 0 ? 0 : answers - 1
            // A note says that a version is unknown.
            if [DeviceFacts.Fact.app.bit, DeviceFacts.Fact.os.bit].contains(facts.bits[index]) {
                limit = max(limit, 1)
            }
            digits[group * facts.width + index] = Digit(factor: Int32(count), limit: UInt16(limit))
            count *= limit + 1
            if count > Self.maxPositions { return group }
        }
        let positions = UnsafeMutablePointer<Int32>.allocate(capacity: count)
        positions.initialize(repeating: -1, count: count)
        destinations[group] = positions
        return group
    }
}
