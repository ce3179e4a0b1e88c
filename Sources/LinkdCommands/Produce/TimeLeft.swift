internal import RouteTools

/// An estimate of the records and the time that are left, from the sizes of the files.
struct TimeLeft {
    /// The time after which an estimate is shown, in seconds.
    private static let delay = 2.0

    /// The size of all files in bytes, or nil if it is not known.
    let size: Int64?
    /// The limit of records, or nil.
    var limit: Int?
    /// The limit of records per second, or nil.
    var rate: Int64?

    /// Returns a text such as `sent 1,200,000 of about 4,900,000, 310,000 per second, 12 s left`.
    ///
    /// Before two seconds have passed, and for inputs of unknown size, nothing is estimated.
    ///
    /// - Parameters:
    ///   - sent: The number of sent records.
    ///   - skipped: The number of bytes that were skipped before the first sent record.
    ///   - consumed: The number of bytes that were read.
    ///   - seconds: The time since the first sent record.
    func text(sent: Int, skipped: Int64, consumed: Int64, seconds: Double) -> String {
        let speed = Double(sent) / max(0.001, seconds)
        let current = Counts.grouped(Int64(speed)) + " per second"
        guard let size, seconds >= Self.delay, sent > 0, consumed > skipped else {
            return "sent \(Counts.grouped(Int64(sent))), \(current)"
        }
        let total = Double(sent) * Double(max(size, consumed) - skipped) / Double(consumed - skipped)
        let records = min(Int64(total), limit.map(Int64.init) ?? .max)
        let left = Double(max(0, records - Int64(sent))) / (rate.map { min(speed, Double($0)) } ?? speed)
        let about = limit.map { Int64($0) <= Int64(total) } == true ? "" : "about "
        return "sent \(Counts.grouped(Int64(sent))) of \(about)\(Counts.grouped(records)), \(current), "
            + Self.text(seconds: Int64(left.rounded(.up))) + " left"
    }

    private static func text(seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }
}
