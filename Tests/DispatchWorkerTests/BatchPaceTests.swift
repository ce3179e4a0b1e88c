import Testing

@testable import DispatchWorker

@Suite("A batch reads the clock more often the slower its records are")
struct BatchPaceTests {
    /// Returns the number of records between clock readings, for a number of readings.
    private func strides(_ readings: Int, nanoseconds: UInt64, read: Int = 100) -> [Int] {
        var pace = BatchPace(written: 0, now: 0)
        var now: UInt64 = 0
        return (0..<readings).map { _ in
            var records = 0
            repeat {
                records += 1
                now += nanoseconds
            } while !pace.isDue(read: read, written: 0) && records < 1_000
            pace.clockRead(now: now)
            return records
        }
    }

    @Test("Slow records are timed one by one")
    func slow() { #expect(strides(4, nanoseconds: 3_000_000) == [1, 1, 1, 1]) }

    @Test("Fast records are timed at least every 32 records")
    func fast() { #expect(strides(8, nanoseconds: 500) == [1, 2, 4, 8, 16, 32, 32, 32]) }

    @Test("Records that become slow are timed one by one again")
    func mixed() {
        var pace = BatchPace(written: 0, now: 0)
        for _ in 0..<10 { pace.clockRead(now: 0) }
        pace.clockRead(now: 50_000_000)
        let isDue = pace.isDue(read: 100, written: 0)
        #expect(isDue)
    }

    @Test("The clock is read after 64 KiB of input or output regardless of the number of records")
    func large() {
        #expect(strides(8, nanoseconds: 500, read: 70_000) == [1, 1, 1, 1, 1, 1, 1, 1])
        var pace = BatchPace(written: 1_000, now: 0)
        for _ in 0..<10 { pace.clockRead(now: 0) }
        let due = [pace.isDue(read: 100, written: 1_500), pace.isDue(read: 100, written: 70_000)]
        #expect(due == [false, true])
    }
}
