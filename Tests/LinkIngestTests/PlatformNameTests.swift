import ByteStorage
import Testing

@testable import LinkIngest

@Suite("Names of platforms") struct PlatformNameTests {
    @Test("The listed platforms, and no others, have a class")
    func classes() {
        func isKnown(_ name: String) -> Bool {
            Array(name.utf8).withUnsafeBufferPointer { PlatformClass(ByteView($0)) != .unknown }
        }
        for name in DeviceClass.platforms {
            #expect(isKnown(name) && isKnown(name.uppercased()))
            for other in [String(name.dropLast()), name + "x", String(name.reversed())] { #expect(!isKnown(other)) }
        }
        // A new class of platforms needs its names in the list.
        let classes = Set(
            DeviceClass.platforms.map { name in
                Array(name.utf8).withUnsafeBufferPointer { PlatformClass(ByteView($0)).rawValue }
            })
        #expect(classes.count == PlatformClass.count - 1)
    }
}
