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
    private var arena = OutputArena(chunkBytes: 4096)
    /// The lists of the last device: its capabilities, its claims, and its attributes.
    private let capabilities, claims, attributes: UnsafeMutablePointer<ByteView>

    /// Reads the answers to the questions of kinds.
    init(_ kinds: DeviceKinds) {
        let count = kinds.questions.count
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
    func view(of kind: DeviceKinds.Kind) -> DeviceView {
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
