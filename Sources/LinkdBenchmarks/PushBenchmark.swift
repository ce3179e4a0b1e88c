internal import LinkDecider
internal import LinkCoordinator
internal import LinkIngest
internal import StrictJSON

/// The benchmark `push`: push messages of a vendor beside native events with the same links and of the same size.
struct PushBenchmark {
    /// The forms of a record.
    enum Form: String, CaseIterable {
        case native, apns, fcm
        /// The event of the workload, without filling.
        case event
    }

    private var records: [Form: (bytes: [UInt8], spans: [Range<Int>])] = [:]
    private let tables: TableSet
    private let vendors: VendorTable
    private let platforms: LinkPlatforms

    init(workload: Workload, table: String, vendors: String, platforms: String) throws {
        tables = TableSet([try RouteTable(json: contents(of: table))])
        self.vendors = try VendorTable(json: contents(of: vendors))
        self.platforms = try LinkPlatforms(file: contents(of: platforms))
        for form in Form.allCases { records[form] = ([], []) }
        for span in workload.spans.prefix(20_000) {
            guard let event = try? JSONValue.parse(Array(workload.bytes[span])) else { continue }
            add(event)
            append(Array(workload.bytes[span]), to: .event)
        }
    }

    /// Adds the three forms of an event, filled to the size of the largest.
    private mutating func add(_ event: JSONValue) {
        guard let link = event["link"]?.text, let device = event["device"]?.text else { return }
        let aps = #""aps":{"alert":{"title":"Sale","body":"20% off"},"mutable-content":1}"#
        let data = #""data":{"_ab":"true","uri":\#(link),"t":"Sale","a":"20% off"}"#
        let texts: [Form: String] = [
            .native: #"{"link":\#(link),"device":\#(device)"#,
            .apns: #"{"payload":{\#(aps),"ab":{"c":"spring"},"ab_uri":\#(link)},"device":\#(device)"#,
            .fcm: #"{"payload":{"message":{\#(data),"android":{"priority":"high"}}},"device":\#(device)"#,
        ]
        let size = (texts.values.map(\.utf8.count).max() ?? 0) + 10
        for (form, text) in texts {
            let fill = String(repeating: "x", count: size - text.utf8.count - 10)
            append(Array((text + #","fill":"\#(fill)"}"#).utf8), to: form)
        }
    }

    private mutating func append(_ record: [UInt8], to form: Form) {
        var (bytes, spans) = records.removeValue(forKey: form) ?? ([], [])
        spans.append(bytes.count..<bytes.count + record.count)
        bytes += record
        records[form] = (bytes, spans)
    }

    func run(_ options: BenchmarkOptions, _ report: Report) {
        report.heading("push messages beside native events of the same size (\(options.rounds) rounds)")
        var times: [Form: [Double]] = [:]
        var withPlatforms: [Double] = []
        for _ in 0..<options.rounds {
            for form in Form.allCases where form != .event { times[form, default: []].append(pass(form)) }
            withPlatforms.append(pass(.native, platforms))
        }
        let native = times[.native] ?? []
        report.figure("native event", unit: "ns", native)
        report.figure(
            "native event with link platforms", unit: "ns", withPlatforms, baseline: ("native", native), bound: 1.05)
        report.figure("APNs message", unit: "ns", times[.apns] ?? [], baseline: ("native", native), bound: 1.5)
        report.figure("FCM message", unit: "ns", times[.fcm] ?? [], baseline: ("native", native), bound: 1.5)
    }

    /// Decides about the records of a form so many times.
    func run(_ form: Form, hasPlatforms: Bool, passes: Int) {
        _ = pass(form, hasPlatforms ? platforms : nil, passes: passes)
    }

    /// The number of records of a form.
    func count(of form: Form) -> Int { records[form]?.spans.count ?? 0 }

    /// Returns the time per record of the best of some passes, in nanoseconds.
    private func pass(_ form: Form, _ platforms: LinkPlatforms? = nil, passes: Int = 5) -> Double {
        guard let (bytes, spans) = records[form] else { return .nan }
        return RecordBenchmark.best(
            of: passes, DeciderConfiguration(tables: tables, vendors: vendors, platforms: platforms), bytes, spans)
    }
}
