import LinkCoordinator
import TableSupport
import TestSupport
import Testing

@Suite("Decisions that are applied at the same time") struct StackTurnTests {
    /// An app whose changes are visible after some turns of the main actor.
    @MainActor private final class SlowRouter: StackApplier {
        private(set) var shown: [StackEntry]
        /// The stacks that were shown before each step and at the end of each one.
        private(set) var history: [[StackEntry]]
        private(set) var faults: [String] = []
        private(set) var steps = 0
        /// The newest decision that was applied.
        var newest: Decision?
        private var isBusy = false
        private var generator: SeededGenerator
        /// The number of turns before and after the change of a step.
        private let turns: Int
        /// Called at the start of each step.
        var onStep: (@MainActor (Int) async -> Void)?

        init(_ shown: [StackEntry], turns: Int, generator: SeededGenerator = SeededGenerator(seed: 1)) {
            self.shown = shown
            history = [shown]
            self.turns = turns
            self.generator = generator
        }

        func dismiss() async { await show(.dismiss) }
        func pop(_ count: Int) async { await show(.pop(count)) }
        func update(_ entry: StackEntry, at index: Int) async { await show(.update(index, entry)) }
        func push(_ entries: [StackEntry]) async { await show(.push(entries)) }
        func present(_ entry: StackEntry) async { await show(.present(entry)) }

        func userLeft() {
            if !shown.isEmpty { shown.removeLast() }
            history.append(shown)
        }

        private func show(_ step: StackStep) async {
            if isBusy { faults.append("\(step) during another step") }
            if let fault = StackStepTests.fault(step, shown) { faults.append(fault) }
            isBusy = true
            steps += 1
            await onStep?(steps)
            await wait()
            step.apply(to: &shown)
            history.append(shown)
            await wait()
            isBusy = false
        }

        private func wait() async {
            for _ in 0..<Int.random(in: 0...turns, using: &generator) { await Task.yield() }
        }
    }

    /// Applies a decision, and another one while a step of the first is in progress.
    @MainActor private func apply(_ older: Decision, then newer: Decision, to router: SlowRouter) async {
        let first = Task { await router.apply(older) }
        while router.steps == 0 { await Task.yield() }
        await router.apply(newer)
        await first.value
    }

    @Test("Of two links in flight, the app shows the stack of the newer one, in 20 of 20 pairs")
    @MainActor func pairs() async throws {
        let shown = StackStepTests.entries("a b A c")
        let stacks = ["d e", "d S f", "a S", "", "a b c d"]
        var right = 0
        var pairs = 0
        for older in stacks {
            for newer in stacks where newer != older {
                let decisions = try [older, newer].map { try StackStepTests.decision(StackStepTests.entries($0)) }
                let router = SlowRouter(shown, turns: 3)
                await apply(decisions[0], then: decisions[1], to: router)
                pairs += 1
                if router.shown == decisions[1].stack && router.faults.isEmpty { right += 1 }
            }
        }
        #expect(right == 20 && pairs == 20)
    }

    @Test("An older decision ends at the end of its step, so the newer one does not wait for its stack")
    @MainActor func takesOver() async throws {
        let older = try StackStepTests.decision(StackStepTests.entries("d S f T g"))
        let newer = try StackStepTests.decision(StackStepTests.entries("x"))
        let router = SlowRouter(StackStepTests.entries("a"), turns: 0)
        router.onStep = { step in
            if step == 1 { for _ in 0..<50 { await Task.yield() } }
        }
        await apply(older, then: newer, to: router)
        #expect(router.history.map { $0.map(\.screen).joined() } == ["a", "", "x"])
    }

    @Test("A decision that is appended is appended to what is shown when it takes over")
    @MainActor func appended() async throws {
        let older = try StackStepTests.decision(StackStepTests.entries("d e"))
        let newer = try StackStepTests.decision(StackStepTests.entries("x"), mode: .append)
        let router = SlowRouter(StackStepTests.entries("a"), turns: 2)
        await apply(older, then: newer, to: router)
        #expect(router.history.contains { newer.stack(over: $0) == router.shown } && router.shown.last?.screen == "x")
    }

    @Test("A decision without a stack does not end an older one", arguments: ["external", "none", "reject"])
    @MainActor func withoutStack(outcome: String) async throws {
        let older = try StackStepTests.decision(StackStepTests.entries("d S f"))
        let other = try StackStepTests.decision([], outcome: outcome)
        let router = SlowRouter(StackStepTests.entries("a"), turns: 2)
        await apply(older, then: other, to: router)
        #expect(router.shown == older.stack)
    }

    @Test("A step of the app that applies another decision does not wait for itself")
    @MainActor func nested() async throws {
        let older = try StackStepTests.decision(StackStepTests.entries("d S f"))
        let newer = try StackStepTests.decision(StackStepTests.entries("x y"))
        let router = SlowRouter(StackStepTests.entries("a"), turns: 1)
        router.onStep = { [unowned router] step in
            if step == 2 { await router.apply(newer) }
        }
        await router.apply(older)
        #expect(router.shown == newer.stack && router.faults.isEmpty)
    }

    @Test("A change of the user between two steps is taken into account, and an app that changes nothing ends")
    @MainActor func user() async throws {
        let decision = try StackStepTests.decision(StackStepTests.entries("a b S c !x"))
        let router = SlowRouter(StackStepTests.entries("a b"), turns: 0)
        router.onStep = { [unowned router] step in
            if step == 2 { router.userLeft() }
        }
        await router.apply(decision)
        #expect(router.shown == decision.stack && router.steps > 3)

        @MainActor final class Idle: StackApplier {
            let shown: [StackEntry] = []
            var calls = 0
            func dismiss() async { calls += 1 }
            func pop(_ count: Int) async { calls += 1 }
            func update(_ entry: StackEntry, at index: Int) async { calls += 1 }
            func push(_ entries: [StackEntry]) async { calls += 1 }
            func present(_ entry: StackEntry) async { calls += 1 }
        }
        let idle = Idle()
        await idle.apply(decision)
        #expect(idle.calls == 4)
    }

    @Test("A stored stack is shown again, and a newer decision takes over from it")
    @MainActor func stored() async throws {
        let stored = StackStepTests.entries("a b=1 S c")
        let router = SlowRouter(StackStepTests.entries("d"), turns: 1)
        await router.apply(stored)
        #expect(router.shown == stored)
        let decision = try StackStepTests.decision(StackStepTests.entries("x"))
        let first = Task { await router.apply(StackStepTests.entries("p q")) }
        while router.steps == 4 { await Task.yield() }
        await router.apply(decision)
        await first.value
        #expect(router.shown == decision.stack)
    }

    @Test("Law: under any interleaving, the app shows the stack of the newest decision, one possible step at a time")
    @MainActor func law() async throws {
        var overlaps = 0
        let cases = max(200, min(LawCases.count, 3_000))
        for number in 0..<cases {
            let seed = 26_0000 + UInt64(number)
            var generator = SeededGenerator(seed: seed)
            let router = SlowRouter(
                StackStepTests.entries(StackStepTests.stack(&generator)), turns: 3,
                generator: SeededGenerator(seed: seed &* 31))
            var decisions: [Decision] = []
            for _ in 0..<Int.random(in: 2...5, using: &generator) {
                let modes: [LinkRequest.Mode] = [.replace, .replace, .append, .reuse]
                decisions.append(
                    try StackStepTests.decision(
                        StackStepTests.entries(StackStepTests.stack(&generator)), mode: generator.pick(modes),
                        dismissModals: generator.one(in: 3)))
            }
            var tasks: [Task<Void, Never>] = []
            for decision in decisions {
                tasks.append(
                    Task {
                        router.newest = decision
                        await router.apply(decision)
                    })
                for _ in 0..<Int.random(in: 0...8, using: &generator) { await Task.yield() }
            }
            for task in tasks { await task.value }
            let last = try #require(router.newest)
            if router.history.count > last.steps(from: router.history[0]).count + 1 { overlaps += 1 }
            let isRight =
                last.mode == .replace
                ? router.shown == last.stack : router.history.contains { last.stack(over: $0) == router.shown }
            guard isRight, router.faults.isEmpty else {
                Issue.record("seed \(seed): \(router.faults) \(router.history.map { $0.map(\.screen) }), then \(last)")
                return
            }
        }
        print("turns: \(cases) interleavings, seeds from 260000, \(overlaps) with steps of several decisions")
        #expect(overlaps > cases / 4)
    }
}
