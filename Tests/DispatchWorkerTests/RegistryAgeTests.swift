@testable import DispatchWorker
import Testing

/// The age of the local copy of the registry.
@Suite struct RegistryAgeTests {
    private static func question(_ end: Int64, _ time: Int64) -> RegistryAge.Question {
        RegistryAge.Question(ends: [0: end, 1: 5], wall: time, at: UInt64(time))
    }

    @Test("A copy that has read everything is current now")
    func current() {
        var age = RegistryAge()
        #expect(age.reached(by: [0: 10, 1: 5], Self.question(10, 1))?.wall == 1)
        #expect(age.reached(by: [0: 10, 1: 6], Self.question(10, 2))?.wall == 2)
    }

    @Test("A copy that follows records that never end is as old as the last ends that it reached")
    func following() {
        var age = RegistryAge()
        for time in Int64(0)..<100 {
            // The reader is always one record behind the newest end, and past the end of the question before.
            let reached = age.reached(by: [0: 10 * time + 9, 1: 5], Self.question(10 * time + 10, time))
            #expect(reached?.wall == (time == 0 ? nil : time - 1), "at \(time)")
        }
    }

    @Test("A copy that cannot reach the end of one partition gets older")
    func behind() {
        var age = RegistryAge()
        for time in Int64(0)..<10 {
            #expect(age.reached(by: [0: 100 * time, 1: 4], Self.question(5, time)) == nil)
        }
        #expect(age.reached(by: [0: 900, 1: 5], Self.question(2_000, 10))?.wall == 0)
    }
}
