import Testing

@testable import DispatchWorker

@Suite("When a batch looks at the clock")
struct BatchPaceTests {
    /// Records until the clock is looked at, so often.
    private func strides(_ looks: Int, nanoseconds: UInt64, read: Int = 100) -> [Int] {
        var pace = BatchPace(written: 0, now: 0)
        var now: UInt64 = 0
        return (0..<looks).map { _ in
            var records = 0
            repeat {
                records += 1
                now += nanoseconds
            } while !pace.isDue(read: read, written: 0) && records < 1_000
            pace.looked(now: now)
            return records
        }
    }

    @Test("slow records are looked at one by one")
    func slow() { #expect(strides(4, nanoseconds: 3_000_000) == [1, 1, 1, 1]) }

    @Test("fast records are looked at seldom, but within 32 of them")
    func fast() { #expect(strides(8, nanoseconds: 500) == [1, 2, 4, 8, 16, 32, 32, 32]) }

    @Test("records that become slow are looked at one by one again")
    func mixed() {
        var pace = BatchPace(written: 0, now: 0)
        for _ in 0..<10 { pace.looked(now: 0) }
        pace.looked(now: 50_000_000)
        let isDue = pace.isDue(read: 100, written: 0)
        #expect(isDue)
    }

    @Test("64 KiB that are read or written are looked at, however few records they are")
    func large() {
        #expect(strides(8, nanoseconds: 500, read: 70_000) == [1, 1, 1, 1, 1, 1, 1, 1])
        var pace = BatchPace(written: 1_000, now: 0)
        for _ in 0..<10 { pace.looked(now: 0) }
        let due = [pace.isDue(read: 100, written: 1_500), pace.isDue(read: 100, written: 70_000)]
        #expect(due == [false, true])
    }
}
