import Foundation
import LinkCoordinator
import ByteStorage
import TestSupport

/// Resolves as the worker does, with one resolver and one arena for all requests.
struct LawRunner: ~Copyable {
    private var resolver = Resolver()
    private var arena = OutputArena(chunkBytes: 32 << 10)

    /// Returns the JSON of the decision for a link.
    mutating func decide(_ link: [UInt8], _ facts: DeviceView, _ table: CompiledTable) -> [UInt8] {
        link.withUnsafeBufferPointer { bytes in
            decide(RequestView(form: .link, text: ByteView(bytes), isPlain: false), facts, table)
        }
    }

    /// Returns the JSON of the decision for any request.
    mutating func decide(_ request: RequestView, _ facts: DeviceView, _ table: CompiledTable) -> [UInt8] {
        arena.reset()
        arena.begin()
        withUnsafePointer(to: request) { request in
            withUnsafePointer(to: facts) { facts in
                _ = resolver.resolve(request, facts, table: table.handle, head: nil, into: &arena)
            }
        }
        withExtendedLifetime(table) {}
        return arena.finish().array
    }
}

/// The facts of various devices, valid as long as this object.
final class LawDevices {
    let facts: [DeviceView]
    private var texts: [UnsafeMutableBufferPointer<UInt8>] = []
    private var lists: [UnsafeMutableBufferPointer<ByteView>] = []

    init(_ devices: [DeviceFacts]) {
        var texts: [UnsafeMutableBufferPointer<UInt8>] = []
        var lists: [UnsafeMutableBufferPointer<ByteView>] = []
        func view(_ text: String) -> ByteView {
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
            _ = copy.initialize(from: text.utf8)
            texts.append(copy)
            return ByteView(UnsafeBufferPointer(copy))
        }
        func list(_ values: [String]) -> UnsafeBufferPointer<ByteView> {
            let copy = UnsafeMutableBufferPointer<ByteView>.allocate(capacity: values.count)
            _ = copy.initialize(from: values.map(view))
            lists.append(copy)
            return UnsafeBufferPointer(copy)
        }
        facts = devices.map { device in
            var facts = DeviceView()
            func set(_ text: String?, _ fact: DeviceView.Fact, _ place: WritableKeyPath<DeviceView, ByteView>) {
                guard let text else { return }
                facts.setKnown(fact)
                facts[keyPath: place] = view(text)
            }
            set(device.platform, .platform, \.platform)
            set(device.app, .app, \.app)
            set(device.os, .os, \.os)
            set(device.locale, .locale, \.locale)
            set(device.region, .region, \.region)
            set(device.coordinator, .coordinator, \.coordinator)
            if let listed = device.capabilities {
                facts.setKnown(.capabilities)
                facts.capabilities = list(listed)
            }
            if let held = device.claims {
                facts.setKnown(.claims)
                facts.claims = list(held)
            }
            if let attributes = device.attributes {
                facts.setKnown(.attributes)
                facts.attributes = list(attributes.flatMap { [$0.key, $0.value] })
            }
            return facts
        }
        self.texts = texts
        self.lists = lists
    }

    deinit {
        for text in texts { text.deallocate() }
        for list in lists { list.deallocate() }
    }

    /// Various devices: unknown, old, and new ones, with and without claims and capabilities.
    static let all: [DeviceFacts] = [
        DeviceFacts(), DeviceFacts(app: "1.0", os: "1"),
        DeviceFacts(platform: "ios", app: "3.2", os: "17.1", claims: ["session"]),
        DeviceFacts(
            platform: "ios", app: "6.1.0", os: "18", locale: "en_GB", region: "gb", capabilities: ["listed", "cap"],
            claims: ["session", "vip"], attributes: ["tier": "gold"], coordinator: "home"),
        DeviceFacts(
            platform: "android", app: "4.0.0", os: "2", locale: "de", capabilities: ["listed"], coordinator: "shop"),
        DeviceFacts(platform: "web", app: "x", os: "", claims: [], attributes: ["tier": "iron"]),
        DeviceFacts(app: "5.0-beta", os: "3", claims: ["vip"], coordinator: "nowhere"),
        DeviceFacts(platform: "ios", app: "2.0", os: "16", capabilities: [], claims: ["session"], attributes: [:]),
    ]
}

/// The first members of a decision, read without parsing all of it.
struct DecisionStart: Equatable {
    var route: String?
    var variant: Int?
    var via: [String] = []
    var outcome = ""
    /// The guard of a deferred request.
    var stoppedBy: String?

    init(_ json: [UInt8]) {
        (json + [0]).withUnsafeBytes { bytes in
            let text = bytes.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped
            guard let end = Self.find("\"outcome\":\"", in: text) else { return }
            outcome = Self.word(end)
            if outcome == "deferred" { stoppedBy = Self.find("\"guard\":\"", in: text).map(Self.word) }
            if let route = Self.find("\"route\":\"", in: text), route < end { self.route = Self.word(route) }
            if let number = Self.find("\"variant\":", in: text), number < end { variant = Int(atoi(number)) }
            guard let list = Self.find("\"via\":[", in: text), list < end else { return }
            // Ids have no escapes, so the list ends at its bracket.
            via = String(cString: list).prefix { $0 != "]" }.split(separator: ",").map {
                String($0.dropFirst().dropLast())
            }
        }
    }

    /// Returns the text after the first occurrence of another text.
    private static func find(_ wanted: StaticString, in text: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
        wanted.withUTF8Buffer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { strstr(text, $0.baseAddress.unsafelyUnwrapped) }
        }.map { UnsafePointer($0) + wanted.utf8CodeUnitCount }
    }

    /// Returns the text up to the next quotation mark.
    private static func word(_ start: UnsafePointer<CChar>) -> String {
        let length = strcspn(start, "\"")
        return start.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }

    /// The route that was selected first.
    var firstRoute: String? { via.first ?? route }
}

/// The number of cases of each law: `LAW_CASES`, or 100,000.
let lawCases = lawSize("LAW_CASES", 100_000)

/// Returns a number from the environment, or a default.
func lawSize(_ variable: String, _ otherwise: Int) -> Int {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? otherwise
}
