@testable import KafkaClient
import Synchronization
import SystemThreads
import Testing

@testable import DispatchWorker

/// The published state of a lane.
@Suite struct LaneStatusTests {
    static func snapshot(at now: UInt64) -> LaneSnapshot {
        LaneSnapshot(lane: 0, machine: LaneMachine(policy: LanePolicy()), at: now)
    }

    @Test("A lane does not wait for a reader that holds the lock, and publishes later")
    func heldLock() throws {
        let status = LaneStatus()
        #expect(status.snapshot == nil)
        let states = Monitor((isHeld: false, isReleased: false))
        SystemThread.start("test") {
            status.current.withLock { _ in
                states.signal { $0.isHeld = true }
                _ = states.wait(milliseconds: 60_000) { $0.isReleased ? true : nil }
            }
            states.signal { $0.isHeld = false }
        }
        try #require(states.wait(milliseconds: 60_000) { $0.isHeld ? true : nil } != nil)
        #expect(!status.publish(Self.snapshot(at: 1)))
        states.signal { $0.isReleased = true }
        try #require(states.wait(milliseconds: 60_000) { $0.isHeld ? nil : true } != nil)
        #expect(status.publish(Self.snapshot(at: 2)))
        #expect(status.snapshot?.publishedAt == 2)
    }

    @Test("Readers see snapshots in their order while a lane publishes")
    func readers() {
        let status = LaneStatus()
        let isOver = Monitor((readers: 0, isPublished: false, isOrdered: true))
        let count = 20_000
        for _ in 0..<4 {
            SystemThread.start("test") {
                var last: UInt64 = 0
                while last < UInt64(count) {
                    let now = status.snapshot?.publishedAt ?? 0
                    if now < last { isOver.withLock { $0.isOrdered = false } }
                    last = now
                }
                isOver.signal { $0.readers += 1 }
            }
        }
        for now in 1..<UInt64(count) { status.publish(Self.snapshot(at: now)) }
        while !status.publish(Self.snapshot(at: UInt64(count))) {}
        #expect(isOver.wait(milliseconds: 60_000) { $0.readers == 4 ? true : nil } == true)
        #expect(isOver.withLock { $0.isOrdered })
    }

    @Test("The newest statistics document of each client is kept until it is taken")
    func statistics() {
        let status = LaneStatus()
        status.park([1], of: .consumer, at: 1)
        status.park([2], of: .consumer, at: 2)
        status.park([3], of: .producer, at: 3)
        let taken = status.takeStatistics(of: .consumer)
        #expect(taken?.bytes == [2] && taken?.at == 2)
        #expect(status.takeStatistics(of: .consumer) == nil)
        #expect(status.takeStatistics(of: .producer)?.bytes == [3])
    }
}
