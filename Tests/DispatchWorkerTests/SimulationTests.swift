@testable import DispatchWorker
import Foundation
@testable import KafkaClient
import TestSupport
import Testing

/// Lanes in a simulated world with all kinds of faults.
///
/// The invariants must always hold.
@Suite struct SimulationTests {
    static func value(_ index: Int) -> String {
        switch index % 40 {
        case 7: "bad"
        case 19: "fan 3"
        default: "v\(index)"
        }
    }

    @Test("Without faults every record is decided once and the stop succeeds")
    func calm() {
        let world = SimulatedWorld(seed: 1, callsPerFault: 0, lanes: 2, isStable: true)
        world.produce(600, Self.value)
        #expect(world.run(steps: 20_000))
        #expect(world.check() == OutcomeCheck.good, "\(world.check().summary)")
        #expect(world.drain())
        #expect(world.isSettled)
        #expect(world.exits == [])
    }
}

/// The lane's own check of the invariants, which only debug builds perform.
@Suite struct CheckTests {
    static var isDebug: Bool {
        var isDebug = false
        func note() -> Bool {
            isDebug = true
            return true
        }
        assert(note())
        return isDebug
    }

    @Test(
        "A violation inside a rebalance callback ends the lane with 70 even if it is over when the poll returns",
        .enabled(if: isDebug, "a release build does not check"))
    func violationInCallback() {
        let world = SimulatedWorld(seed: 1, callsPerFault: 0, lanes: 1, isStable: true)
        world.produce(10, SimulationTests.value)
        world.onCommittedRequest = { [unowned world] in world.processes[0].lane?.machine.batch = .remaining(0) }
        world.onAssignment = { [unowned world] in world.processes[0].lane?.machine.batch = .none }
        _ = world.run(steps: 2_000)
        #expect(world.exits.first?.code == .internal)
        #expect(world.exits.first?.reason.contains("a batch without messages, after fetchCommitted") == true)
    }
}

/// Many schedules, each with a different world and different faults.
///
/// Every record must have one outcome, in order.
///
/// `LINKD_TEST_SCHEDULES` is their number (640 in a long run, otherwise 160). `LINKD_TEST_SEED` runs a single seed.
@Suite struct ScheduleTests {
    static let count =
        Int(ProcessInfo.processInfo.environment["LINKD_TEST_SCHEDULES"] ?? "") ?? (LongTests.areWanted ? 640 : 160)
    static let only = UInt64(ProcessInfo.processInfo.environment["LINKD_TEST_SEED"] ?? "")

    @Test("Every record has one outcome, in order, in spite of failures, hangs, and delays", arguments: 0..<8)
    func schedules(part: Int) {
        if let only = Self.only {
            if part == 0 { #expect(Schedule(seed: only).run() == nil, "seed \(only)") }
            return
        }
        var failures = 0
        for index in stride(from: part, to: Self.count, by: 8) where failures < 3 {
            let seed = UInt64(index)
            guard let failure = Schedule(seed: seed).run() else { continue }
            failures += 1
            Issue.record("LINKD_TEST_SEED=\(seed) fails: \(failure)")
        }
    }

    @Test("The short form detects each wrong decision of earlier versions", arguments: WrongDecision.allCases)
    func wrongDecisions(wrong: WrongDecision) {
        for seed in 0..<UInt64(640) where Schedule(seed: seed, wrong: wrong).run() != nil { return }
        Issue.record("\(wrong) is not found by 640 schedules")
    }
}

/// A crash at every call, before and after its effect.
@Suite struct CrashTests {
    @Test(
        "A crash before or after any call changes no outcome",
        arguments: [FaultPlan.Fault.crashBefore, .crashAfter])
    func everyCall(fault: FaultPlan.Fault) {
        var call = 1
        var crashes = 0
        while true {
            let world = SimulatedWorld(seed: 3, callsPerFault: 0, lanes: 2, isStable: call % 2 == 0)
            world.produce(120, SimulationTests.value)
            world.plan.fixed = (call, fault)
            world.hasFaults = true
            #expect(world.run(steps: 20_000), "crash at call \(call): not settled")
            #expect(world.broken == nil, "crash at call \(call)")
            #expect(world.check() == OutcomeCheck.good, "crash at call \(call): \(world.check().summary)")
            crashes += world.processes.reduce(0) { $0 + $1.starts - 1 }
            if world.plan.calls < call { break }
            call += 1
        }
        #expect(crashes > 10, "the plan caused too few crashes")
    }

    @Test("A call with any fault changes no outcome", arguments: FaultPlan.Fault.allCases)
    func everyFault(fault: FaultPlan.Fault) {
        for call in 1...60 {
            let world = SimulatedWorld(seed: 5, callsPerFault: 0, lanes: 1, isStable: true)
            world.produce(120, SimulationTests.value)
            world.plan.fixed = (call, fault)
            world.hasFaults = true
            #expect(world.run(steps: 20_000), "\(fault) at call \(call): not settled")
            #expect(world.broken == nil, "\(fault) at call \(call)")
            #expect(world.check() == OutcomeCheck.good, "\(fault) at call \(call): \(world.check().summary)")
        }
    }
}

/// KIP-890: a late EndTxn ends whichever transaction of its epoch is open.
@Suite struct LateRequestTests {
    @Test("A late request does not end another transaction", arguments: 0..<40)
    func late(seed: Int) {
        let world = SimulatedWorld(seed: UInt64(seed), callsPerFault: 4, lanes: 1 + seed % 2, isStable: true)
        world.plan.only = [.late]
        world.policy.commit.intervalMilliseconds = 50
        world.produce(300, SimulationTests.value)
        #expect(world.run(steps: 30_000), "seed \(seed): not settled")
        #expect(world.broken == nil, "seed \(seed)")
        #expect(world.check() == OutcomeCheck.good, "seed \(seed): \(world.check().summary)")
    }
}

/// At-least-once: records may be decided twice, and none is lost.
@Suite struct AtLeastOnceSimulationTests {
    @Test("No record is lost in spite of faults", arguments: 0..<60)
    func nothingLost(seed: Int) {
        let world = SimulatedWorld(
            seed: UInt64(seed), callsPerFault: [6, 15, 40][seed % 3], lanes: 1 + seed % 3, isStable: seed % 2 == 0,
            guarantee: .atLeastOnce)
        world.produce(300, SimulationTests.value)
        #expect(world.run(steps: 30_000, stepsPerPause: seed % 5 == 0 ? 400 : 0), "seed \(seed): not settled")
        #expect(world.check().lost == [], "seed \(seed)")
        #expect(world.drain(), "seed \(seed): the stop failed")
    }
}

/// Records whose outputs a broker refuses.
@Suite struct PoisonSimulationTests {
    @Test(
        "Each record with refused outputs becomes one dead letter, and the others are decided", arguments: 0..<10,
        [false, true])
    func refused(seed: Int, byClient: Bool) {
        let world = SimulatedWorld(seed: UInt64(seed), callsPerFault: seed % 2 == 0 ? 0 : 40, lanes: 2, isStable: true)
        world.clientRefuses = byClient
        world.produce(300) { $0 == 77 || $0 == 200 ? "a poison" : SimulationTests.value($0) }
        #expect(world.run(steps: 60_000), "seed \(seed): not settled")
        #expect(world.check() == OutcomeCheck.good, "seed \(seed): \(world.check().summary)")
        let refused = world.visible("in.dlq").filter { $0.header("dlq.reason") == "refused_output" }
        #expect(refused.count == 2, "seed \(seed)")
        #expect(refused.allSatisfy { $0.valueText == "a poison" && (Int($0.header("dlq.attempts") ?? "") ?? 0) > 3 })
    }
}
