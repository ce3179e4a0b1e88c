import LinkCoordinator
import TableSupport
import TestSupport
import Testing

@Suite("Steps from a shown stack to that of a decision") struct StackStepTests {
    static let cases = 100_000

    /// Returns a decision with this stack, as a server would send it.
    static func decision(
        _ stack: [StackEntry], mode: LinkRequest.Mode = .replace, dismissModals: Bool = false,
        outcome: String = "navigate"
    ) throws -> Decision {
        let entries = stack.map { entry in
            let nav = entry.nav ? #","nav":true"# : ""
            let identity = entry.identity.map { #","identity":"\#($0)""# } ?? ""
            let data = entry.models["M"]?["n"].map { value in
                if case .number(let text) = value { #","data":{"M":{"n":\#(text)}}"# } else { "" }
            }
            return #"{"coordinator":"\#(entry.coordinator)","screen":"\#(entry.screen)","#
                + #""present":"\#(entry.present.rawValue)""# + nav + identity + (data ?? "") + "}"
        }
        let text =
            #"{"table":"t@1+0","outcome":"\#(outcome)","mode":"\#(mode.rawValue)""#
            + (dismissModals ? #","dismissModals":true"# : "") + #","stack":[\#(entries.joined(separator: ","))]}"#
        return try Decision(json: text.utf8)
    }

    /// Returns the entries of a short notation: `a` is a push, `A` a sheet with navigation, `B` a sheet without
    /// navigation, and `!` an alert.
    ///
    /// The identity follows after `=`.
    static func entries(_ text: String) -> [StackEntry] {
        text.split(separator: " ").map { word in
            let parts = word.split(separator: "=")
            let first = parts[0].first ?? "a"
            let present: Presentation = first == "!" ? .alert : first.isUppercase ? .sheet : .push
            return StackEntry(
                coordinator: "c", screen: parts[0].lowercased().replacing("!", with: "alert"), present: present,
                nav: first.isUppercase && first != "B", identity: parts.count > 1 ? "id" : nil,
                models: parts.count > 1 ? ["M": ["n": .number(String(parts[1]))]] : Models())
        }
    }

    @Test(
        "The steps are the expected ones",
        arguments: [
            ("", "a b", LinkRequest.Mode.replace, false, "push a b"), ("a b c", "a", .replace, false, "pop 2"),
            ("a b", "a c", .replace, false, "pop 1, push c"),
            ("a A b S c", "a d", .replace, false, "dismiss, dismiss, push d"),
            ("a A b c", "a A d", .replace, false, "pop 2, push d"),
            ("a", "a A b S !x", .replace, false, "present a, push b, present s, present alertx"),
            ("a A b", "a A b", .replace, true, "dismiss, present a, push b"), ("a b", "c", .append, false, "push c"),
            ("a !x", "c", .append, false, "dismiss, push c"), ("a B", "c", .append, false, "dismiss, push c"),
            ("a B", "S", .append, false, "present s"), ("a A", "c", .append, true, "dismiss, push c"),
            ("a b=1 c", "x b=1", .reuse, false, "pop 1"), ("a b=1 c", "x b=2", .reuse, false, "pop 1, update 1"),
            ("a", "x b", .reuse, false, "push x b"), ("a b=1", "a b=2", .replace, false, "update 1"),
            ("a b", "a b", .replace, false, ""), ("a b", "", .replace, false, "pop 2"),
        ])
    func steps(shown: String, newStack: String, mode: LinkRequest.Mode, dismissModals: Bool, expected: String) throws {
        let decision = try Self.decision(Self.entries(newStack), mode: mode, dismissModals: dismissModals)
        let steps = decision.steps(from: Self.entries(shown)).map { step in
            switch step {
            case .dismiss: "dismiss"
            case .pop(let count): "pop \(count)"
            case .update(let index, _): "update \(index)"
            case .push(let entries): "push " + entries.map(\.screen).joined(separator: " ")
            case .present(let entry): "present \(entry.screen)"
            }
        }
        #expect(steps.joined(separator: ", ") == expected)
    }

    @Test("A step that removes fewer than no entries changes nothing")
    func negativePop() {
        var stack = [StackEntry(coordinator: "a", screen: "b")]
        StackStep.pop(-1).apply(to: &stack)
        #expect(stack.count == 1)
    }

    @Test("A decision without a stack changes nothing", arguments: ["external", "none", "reject"])
    func others(outcome: String) throws {
        let shown = Self.entries("a A b")
        let decision = try Self.decision(Self.entries("c"), dismissModals: true, outcome: outcome)
        #expect(decision.steps(from: shown).isEmpty)
        #expect(decision.stack(over: shown) == shown)
    }

    /// Returns a random stack in the short notation.
    static func stack(_ generator: inout SeededGenerator) -> String {
        let words = ["a", "b", "c", "d=1", "d=2", "A", "S", "B", "!x"]
        var stack: [String] = []
        for _ in 0..<Int.random(in: 0...7, using: &generator) {
            // The rules of presentation allow nothing on an alert, and no push onto an entry without navigation.
            if stack.last == "!x" { break }
            let next = words.randomElement(using: &generator) ?? "a"
            if stack.last == "B", next.first?.isLowercase == true { continue }
            if stack.isEmpty || stack.last != next { stack.append(next) }
        }
        return stack.joined(separator: " ")
    }

    @Test("Law: the steps turn the shown stack into the decision's stack, and each step is possible")
    func law() throws {
        var generator = SeededGenerator(seed: 40_2026_11)
        // Each decision is used with many shown stacks, because parsing it is the expensive part.
        let modes: [LinkRequest.Mode] = [.replace, .append, .reuse]
        var decisions: [Decision] = []
        for _ in 0..<500 {
            let newStack = Self.entries(Self.stack(&generator))
            decisions.append(
                try Self.decision(
                    newStack, mode: modes.randomElement(using: &generator) ?? .replace,
                    dismissModals: Int.random(in: 0..<3, using: &generator) == 0))
        }
        let stacks = (0..<400).map { _ in Self.entries(Self.stack(&generator)) }
        var counts: [String: Int] = [:]
        for number in 0..<Self.cases {
            let decision = decisions[number % decisions.count]
            let shown = stacks[Int.random(in: 0..<stacks.count, using: &generator)]
            let steps = decision.steps(from: shown)
            var stack = shown
            for step in steps {
                if let fault = Self.fault(step, stack) {
                    Issue.record("seed \(generator.seed), case \(number): \(fault)")
                    return
                }
                counts[Self.name(step), default: 0] += 1
                step.apply(to: &stack)
            }
            guard stack == decision.stack(over: shown), Self.isInOrder(steps) else {
                Issue.record(
                    "seed \(generator.seed), case \(number): \(shown) to \(decision.stack(over: shown)): \(steps)")
                return
            }
            if decision.mode == .replace && stack != decision.stack {
                Issue.record("seed \(generator.seed), case \(number): replace resulted in a different stack")
                return
            }
        }
        print(
            "steps: \(Self.cases) pairs of stacks, seed \(generator.seed): "
                + counts.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", "))
        for kind in ["dismiss", "pop", "update", "push", "present"] { #expect(counts[kind] ?? 0 > Self.cases / 100) }
    }

    private static func name(_ step: StackStep) -> String {
        switch step {
        case .dismiss: "dismiss"
        case .pop: "pop"
        case .update: "update"
        case .push: "push"
        case .present: "present"
        }
    }

    /// Returns the reason why a step cannot be performed on the shown stack, or nil.
    static func fault(_ step: StackStep, _ stack: [StackEntry]) -> String? {
        switch step {
        case .dismiss: return stack.contains(where: \.isModal) ? nil : "nothing to dismiss"
        case .pop(let count):
            let group = stack.lastIndex(where: \.isModal).map { stack.count - $0 - 1 } ?? stack.count
            return count > 0 && count <= group ? nil : "pop of \(count) of a group of \(group)"
        case .update(let index, let entry):
            return stack.indices.contains(index) && stack[index].isSameScreen(as: entry)
                ? nil : "update of another entry"
        case .push(let entries):
            if entries.isEmpty || entries.contains(where: \.isModal) { return "push of a modal entry or of no entries" }
            guard let last = stack.last else { return nil }
            return last.present == .push || last.nav && last.present != .alert ? nil : "push onto \(last.present)"
        case .present(let entry):
            return entry.isModal && stack.last?.present != .alert ? nil : "present on an alert"
        }
    }

    /// Returns a Boolean value that indicates whether the steps are in order: dismiss and pop, update, push and
    /// present.
    private static func isInOrder(_ steps: [StackStep]) -> Bool {
        let ranks = steps.map { step in
            switch step {
            case .dismiss: 0
            case .pop: 1
            case .update: 2
            case .push, .present: 3
            }
        }
        return zip(ranks, ranks.dropFirst()).allSatisfy { $0 <= $1 }
    }

    @Test("An applier performs the steps one after another and shows the decision's stack")
    @MainActor func applier() async throws {
        let shop = try TableFiles.anchor()
        let router = RecordingRouter()
        let device = DeviceFacts(app: "6.1.0", capabilities: ["ar"], claims: ["session"])
        await router.apply(shop.resolve("shop:///p/\(LinkTests.uuid)?mode=ar", device: device))
        await router.apply(shop.resolve("shop:///orders/12", device: device))
        #expect(
            router.calls == [
                "push feed list item", "present ar", "dismiss", "pop 2", "push profile order",
            ])
        #expect(router.shown.map(\.screen) == ["feed", "profile", "order"])
    }
}

@MainActor private final class RecordingRouter: StackApplier {
    private(set) var shown: [StackEntry] = []
    private(set) var calls: [String] = []

    func dismiss() async { record("dismiss", .dismiss) }
    func pop(_ count: Int) async { record("pop \(count)", .pop(count)) }
    func update(_ entry: StackEntry, at index: Int) async { record("update", .update(index, entry)) }
    func push(_ entries: [StackEntry]) async {
        record("push " + entries.map(\.screen).joined(separator: " "), .push(entries))
    }
    func present(_ entry: StackEntry) async { record("present \(entry.screen)", .present(entry)) }

    private func record(_ text: String, _ step: StackStep) {
        calls.append(text)
        step.apply(to: &shown)
    }
}
