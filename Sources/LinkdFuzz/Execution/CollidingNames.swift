extension HostileRecord {
    /// Creates records with names whose hashes are equal in the search for duplicate names.
    ///
    /// The hash of a name (`ByteView.nameHash`) has no secret, so anyone can compute such names.
    package static func withCollidingNames() -> [HostileRecord] {
        let names = collidingNames(79_000)
        func members(_ kind: String) -> String {
            names.map { "\"" + String(decoding: $0, as: UTF8.self) + "\":" + kind }.joined(separator: ",")
        }
        let zeros = members("0")
        return [
            ("colliding names", "{\"link\":\"shop:///\",\"device\":{\"id\":\"d\"},\"x\":{\(zeros)}}"),
            ("APNs with colliding names", "{\"aps\":{},\(zeros)}"),
            ("colliding params", "{\"route\":\"order\",\"params\":{\(zeros)},\"device\":{\"id\":\"d\"}}"),
            (
                "500 devices, colliding params",
                "{\"route\":\"order\",\"params\":{\(zeros)},"
                    + "\"devices\":[<<500,:{\"id\":\"d#\"}>>]}"
            ),
            ("a vendor's object with colliding names", "{\"aps\":{},\"itbl\":{\(zeros)}}"),
            ("a repeated name among colliding names", "{\"aps\":{},\(zeros),\(zeros.prefix(12))}"),
        ].map { HostileRecord(name: "vendors: " + $0.0, input: Array("N\t=k\n\($0.1)".utf8)) }
    }

    /// Returns names of eight bytes with the same hash.
    ///
    /// It computes the steps of the hash backwards.
    private static func collidingNames(_ count: Int) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var known: Set<UInt64> = []
        var random = RandomSource(seed: 1)
        let inverse = inverse(of: 0x94D0_49BB_1331_11EB)
        while names.count < count {
            // The upper half is free, and the lower half follows from the result 0.
            let upper = random.next() >> 32
            let mixed = upper << 32 | unmixed(upper)
            let text = ((mixed ^ mixed >> 32) &* inverse) ^ 0x9E37_79B9_7F4A_7C15 ^ 8
            guard isPlain(text), known.insert(text).inserted else { continue }
            names.append((0..<8).map { UInt8(truncatingIfNeeded: text >> ($0 * 8)) })
        }
        return names
    }

    /// Returns the lower half for which the result of the hash is 0.
    private static func unmixed(_ upper: UInt64) -> UInt64 {
        // The result is the lower half of `hash ^ hash >> 17`, in which bits 17 and above of the lower half are known.
        let shifted = upper << 15 & 0xFFFF_FFFF
        var lower = shifted
        lower = shifted ^ lower >> 17
        return lower
    }

    /// Returns a Boolean value that indicates whether eight bytes are text without escapes and without recipes.
    private static func isPlain(_ text: UInt64) -> Bool {
        var rest = text
        while rest != 0 {
            let byte = UInt8(truncatingIfNeeded: rest)
            if byte < 0x24 || byte > 0x7A || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "<") { return false }
            rest >>= 8
        }
        return text >> 56 != 0
    }

    private static func inverse(of factor: UInt64) -> UInt64 {
        var result = factor
        for _ in 0..<6 { result = result &* (2 &- factor &* result) }
        return result
    }
}
