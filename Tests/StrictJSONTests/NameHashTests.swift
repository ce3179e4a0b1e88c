import ByteStorage
import StrictJSON
import Testing

@Suite("Names with equal hashes")
struct NameHashTests {
    /// Names of eight bytes with the same hash, which has no secret.
    static let names = """
        4SXUUGOS kI5DHfJ6 KCDNTf1l 5SMFfFX5 wketjPBz LC9KcbnO langa6mN 1rbPnoPD 2SMEDxp0 2R5iSzgn ZkGKclJq \
        eaDcn5hg gVfDi35t msbNtzqO konU2Ixv Zw5eMwvK 3Fuelsje im2zzvTQ jebBb5t8 1OZ4tLJQ 05jKOHXU Ic8XvOrI \
        NJPLGP8m jOCu2d4p
        """.split(separator: " ").map(String.init)

    private static func object(_ names: [String]) -> [UInt8] {
        Array("{\(names.map { "\"\($0)\":0" }.joined(separator: ","))}".utf8)
    }

    /// Returns the offset of the error in the object with the names, or nil if it is valid.
    private static func offset(_ names: [String]) -> Int? {
        do throws(JSONError) {
            _ = try JSONValue.parse(object(names))
            return nil
        } catch {
            return error.offset
        }
    }

    @Test("Names that differ are accepted, and the first repetition is reported")
    func repetition() {
        let hashes = Set(Self.names.map { name in Array(name.utf8).withUnsafeBufferPointer { ByteView($0).nameHash } })
        #expect(Self.names.count > 20)
        #expect(hashes.count == 1)
        #expect(Self.offset(Self.names) == nil)
        for place in Self.names.indices {
            // Two repetitions, of which the first one is reported.
            let names = Self.names + [Self.names[place], Self.names[0]]
            #expect(Self.offset(names) == Self.object(Self.names).count + 1, "\(place)")
        }
    }

    @Test("The first repetition of a name that occurs many times is reported", arguments: [1, 2, 30, 2_000])
    func many(count: Int) {
        let others = (0..<20).map { "n\($0)" }
        let names = ["a"] + others + [String](repeating: "a", count: count)
        #expect(Self.offset(names) == Self.object(["a"] + others).count + 1)
    }
}
