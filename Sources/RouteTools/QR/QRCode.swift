/// A QR code (ISO/IEC 18004, Model 2) of up to 2953 bytes.
///
/// It has the smallest version that holds the bytes in byte mode, with the error correction level M (15 % of a code can
/// be damaged), or L (7 %) if level M would need a larger version than 40. The time and memory are bounded, because a
/// code has at most 177 × 177 modules.
package struct QRCode: Sendable, Equatable {
    /// The level of error correction.
    package enum Level: Int, Sendable, CaseIterable {
        case medium = 0
        case low = 1
    }

    /// The maximum number of bytes.
    package static let maxBytes = 2953

    /// The version, from 1 to 40.
    package let version: Int
    /// The level of error correction.
    package let level: Level
    /// The mask, from 0 to 7.
    package let mask: Int
    /// The number of modules of a side.
    package let size: Int
    /// The modules, row by row; true is dark.
    package private(set) var modules: [Bool]

    /// Creates the code of some bytes, or returns nil if there are more than `maxBytes`.
    ///
    /// - Parameters:
    ///   - bytes: The bytes. Readers take them as UTF-8.
    ///   - least: The smallest version to use.
    ///   - wanted: The mask, or nil for the one with the lowest penalty.
    package init?(_ bytes: [UInt8], version least: Int = 1, mask wanted: Int? = nil) {
        var found: (version: Int, level: Level)?
        for level in Level.allCases where found == nil {
            let version = (least...40).first { Self.capacity($0, level) >= bytes.count }
            found = version.map { ($0, level) }
        }
        guard let found else { return nil }
        let frame = QRFrame(version: found.version)
        let codewords = Self.codewords(bytes, found.version, found.level)
        let plain = frame.drawing(codewords)
        var best: (mask: Int, modules: [Bool], penalty: Int)?
        for mask in wanted.map({ [$0] }) ?? Array(0..<8) {
            let modules = frame.finishing(plain, mask: mask, level: found.level)
            let penalty = QRPenalty.of(modules, size: frame.size)
            if best.map({ penalty < $0.penalty }) ?? true { best = (mask, modules, penalty) }
        }
        guard let best else { return nil }
        (version, level) = found
        (mask, modules) = (best.mask, best.modules)
        size = frame.size
    }

    /// Returns the number of bytes that a version holds.
    static func capacity(_ version: Int, _ level: Level) -> Int {
        // The mode has 4 bits and the length 8 or 16.
        (dataCount(version, level) * 8 - 4 - (version < 10 ? 8 : 16)) / 8
    }

    // MARK: Codewords

    private static func dataCount(_ version: Int, _ level: Level) -> Int {
        QRFrame.codewordCount(version) - checkCounts[level.rawValue][version - 1]
            * blockCounts[level.rawValue][version - 1]
    }

    /// Returns the bits of the data as codewords, and their error correction, in the order in which they are drawn.
    private static func codewords(_ bytes: [UInt8], _ version: Int, _ level: Level) -> [UInt8] {
        let count = dataCount(version, level)
        // The mode 4 and the length shift all bytes by half a byte.
        let length = version < 10 ? [UInt8(bytes.count)] : [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
        var data: [UInt8] = []
        var last: UInt8 = 4
        for byte in length + bytes {
            data.append(last << 4 | byte >> 4)
            last = byte & 15
        }
        data.append(last << 4)
        while data.count < count { data.append((data.count - bytes.count - length.count) % 2 == 1 ? 0xEC : 0x11) }
        let blocks = blockCounts[level.rawValue][version - 1]
        let checkCount = checkCounts[level.rawValue][version - 1]
        let (short, long) = (count / blocks, count % blocks)
        let divisor = QRField.divisor(degree: checkCount)
        var parts: [ArraySlice<UInt8>] = []
        var start = 0
        for block in 0..<blocks {
            let end = start + short + (block >= blocks - long ? 1 : 0)
            parts.append(data[start..<end])
            start = end
        }
        var result: [UInt8] = []
        for index in 0...short {
            for part in parts where index < part.count { result.append(part[part.startIndex + index]) }
        }
        let checks = parts.map { QRField.remainder($0, divisor) }
        for index in 0..<checkCount { result += checks.map { $0[index] } }
        return result
    }

    /// The numbers of error correction codewords of a block, by level and version.
    private static let checkCounts = [
        [
            10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28,
            28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        ],
        [
            7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30,
            30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
        ],
    ]
    /// The numbers of blocks, by level and version.
    private static let blockCounts = [
        [
            1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29,
            31, 33, 35, 37, 38, 40, 43, 45, 47, 49,
        ],
        [
            1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18,
            19, 19, 20, 21, 22, 24, 25,
        ],
    ]

    // MARK: Image

    /// The number of modules of a side of an image, with the quiet zone of four modules.
    package var imageSize: Int { size + 8 }

    /// The dark modules of an image as the path of an SVG element, in units of a module.
    package var path: String {
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                let start = column
                while column < size, modules[row * size + column] { column += 1 }
                if column > start { path += "M\(start + 4) \(row + 4)h\(column - start)v1h-\(column - start)z" }
                column += 1
            }
        }
        return path
    }

    /// The code as an SVG image, black on white.
    package var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(imageSize) \(imageSize)" shape-rendering="crispEdges">\
        <rect width="\(imageSize)" height="\(imageSize)" fill="#fff"/><path d="\(path)"/></svg>

        """
    }
}

/// The field of 256 elements with the polynomial 0x11D, for Reed-Solomon codes.
private enum QRField {
    static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var result: UInt8 = 0
        for bit in (0..<8).reversed() {
            result = (result << 1) ^ (result >> 7 == 1 ? 0x1D : 0)
            if b >> bit & 1 == 1 { result ^= a }
        }
        return result
    }

    /// Returns the polynomial whose roots are the first powers of 2, without its highest coefficient, which is 1.
    static func divisor(degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root) ^ (index + 1 < degree ? result[index + 1] : 0)
            }
            root = product(root, 2)
        }
        return result
    }

    static func remainder(_ data: ArraySlice<UInt8>, _ divisor: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in divisor.indices { result[index] ^= product(divisor[index], factor) }
        }
        return result
    }
}

/// The parts of a code that do not depend on its bytes, and the places for the others.
private struct QRFrame {
    let version: Int
    let size: Int
    private var modules: [Bool]
    /// A Boolean value for each module that indicates whether it belongs to a pattern or to the format.
    private var isFixed: [Bool]

    init(version: Int) {
        self.version = version
        size = version * 4 + 17
        modules = Array(repeating: false, count: size * size)
        isFixed = modules
        for index in 0..<size {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] {
            square(row, column, reach: 4) { $0 != 2 && $0 != 4 }
        }
        let positions = Self.alignments(version, size)
        for row in positions {
            for column in positions
            where !isFixed[row * size + column] || row == 6 && column > 8 && column < size - 9
                || column == 6 && row > 8 && row < size - 9
            {
                square(row, column, reach: 2) { $0 != 1 }
            }
        }
        // The places of the format and, at last, of the version.
        for index in 0..<9 where index != 6 {
            set(8, index, false)
            set(index, 8, false)
        }
        for index in 0..<8 {
            set(8, size - 1 - index, false)
            set(size - 1 - index, 8, false)
        }
        guard version >= 7 else { return }
        var rest = version
        for _ in 0..<12 { rest = (rest << 1) ^ ((rest >> 11) * 0x1F25) }
        let bits = version << 12 | rest
        for index in 0..<18 {
            let (far, near) = (size - 11 + index % 3, index / 3)
            set(near, far, bits >> index & 1 == 1)
            set(far, near, bits >> index & 1 == 1)
        }
    }

    /// Returns the number of codewords of a version.
    static func codewordCount(_ version: Int) -> Int {
        var modules = (16 * version + 128) * version + 64
        if version >= 2 {
            let count = version / 7 + 2
            modules -= (25 * count - 10) * count - 55
            if version >= 7 { modules -= 36 }
        }
        return modules / 8
    }

    private static func alignments(_ version: Int, _ size: Int) -> [Int] {
        guard version >= 2 else { return [] }
        let count = version / 7 + 2
        let step = version == 32 ? 26 : (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<(count - 1)).map { size - 7 - $0 * step }.reversed()
    }

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row * size + column] = isDark
        isFixed[row * size + column] = true
    }

    /// Draws rings around a module, whose color depends on their distance.
    private mutating func square(_ row: Int, _ column: Int, reach: Int, _ isDark: (Int) -> Bool) {
        for down in -reach...reach {
            for right in -reach...reach {
                let (own, other) = (row + down, column + right)
                guard own >= 0, own < size, other >= 0, other < size else { continue }
                set(own, other, isDark(max(abs(down), abs(right))))
            }
        }
    }

    /// Returns the modules with the bits of codewords, which go up and down in columns of two modules.
    func drawing(_ codewords: [UInt8]) -> [Bool] {
        var modules = modules
        var bit = 0
        for right in stride(from: size - 1, through: 1, by: -2).map({ $0 > 6 ? $0 : $0 - 1 }) where right > 0 {
            let isUp = (right + 1) & 2 == 0
            for step in 0..<size {
                let row = isUp ? size - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * size + column] && bit < codewords.count * 8 {
                    modules[row * size + column] = codewords[bit / 8] >> (7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
        }
        return modules
    }

    /// Returns the modules with a mask and the format that names it.
    func finishing(_ plain: [Bool], mask: Int, level: QRCode.Level) -> [Bool] {
        var modules = plain
        for row in 0..<size {
            for column in 0..<size where !isFixed[row * size + column] {
                if Self.isMasked(mask, row, column) { modules[row * size + column].toggle() }
            }
        }
        let data = level.rawValue << 3 | mask
        var rest = data
        for _ in 0..<10 { rest = (rest << 1) ^ ((rest >> 9) * 0x537) }
        let bits = (data << 10 | rest) ^ 0x5412
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            let near = index < 6 ? index : index < 8 ? index + 1 : 0
            let low = index < 8 ? (near, 8) : (8, index == 8 ? 7 : 14 - index)
            modules[low.0 * size + low.1] = isDark
            let high = index < 8 ? (8, size - 1 - index) : (size - 15 + index, 8)
            modules[high.0 * size + high.1] = isDark
        }
        modules[(size - 8) * size + 8] = true
        return modules
    }

    private static func isMasked(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }
}

/// The penalty of a pattern of modules, which is low for codes that readers find easily.
private enum QRPenalty {
    static func of(_ modules: [Bool], size: Int) -> Int {
        var penalty = 0
        for line in 0..<size {
            penalty += self.line((0..<size).map { modules[line * size + $0] })
            penalty += self.line((0..<size).map { modules[$0 * size + line] })
        }
        for row in 0..<(size - 1) {
            for column in 0..<(size - 1) {
                let at = row * size + column
                let own = modules[at]
                if own == modules[at + 1], own == modules[at + size], own == modules[at + size + 1] { penalty += 3 }
            }
        }
        let percent = modules.count { $0 } * 100 / modules.count
        return penalty + abs(percent - 50) / 5 * 10
    }

    /// Returns the penalty of runs, and of what looks like the corner of a code.
    private static func line(_ line: [Bool]) -> Int {
        var penalty = 0
        var run = 0
        var window = 0
        for (index, isDark) in line.enumerated() {
            run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
            if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
            window = (window << 1 | (isDark ? 1 : 0)) & 0x7FF
            if index >= 10, window == 0b101_1101_0000 || window == 0b000_0101_1101 { penalty += 40 }
        }
        return penalty
    }
}
