import ByteStorage
import LinkCoordinator

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
            func set(_ text: String?, _ fact: DeviceFacts.Fact, _ keyPath: WritableKeyPath<DeviceView, ByteView>) {
                guard let text else { return }
                facts.setKnown(fact)
                facts[keyPath: keyPath] = view(text)
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
