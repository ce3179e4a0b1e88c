/// Text with repeated groups, which keeps large inputs readable and easy to change.
///
/// `<<3,:"a#":0>>` expands to `"a0":0,"a1":0,"a2":0`. A group has a number, a separator (a comma or nothing), and a
/// text in which `#` is the number of the repetition. Groups can be nested. Any other text stands for itself.
package enum Recipe {
    /// Returns the expanded text, at most `limit` bytes of it.
    package static func expand(_ text: some Collection<UInt8>, limit: Int) -> [UInt8] {
        var out: [UInt8] = []
        var reader = Reader(bytes: Array(text), limit: limit)
        reader.expand(until: nil, counter: nil, into: &out)
        return out
    }

    private struct Reader {
        let bytes: [UInt8]
        let limit: Int
        var at = 0

        /// Expands the text up to the end of the current group, or of the whole text.
        mutating func expand(until end: Int?, counter: Int?, into out: inout [UInt8]) {
            let stop = end ?? bytes.count
            while at < stop, out.count < limit {
                if let group = group(at: at, before: stop) {
                    repeatGroup(group, counter: counter, into: &out)
                } else if let counter, bytes[at] == UInt8(ascii: "#") {
                    out += Array(String(counter).utf8)
                    at += 1
                } else {
                    out.append(bytes[at])
                    at += 1
                }
            }
            at = stop
        }

        private mutating func repeatGroup(_ group: Group, counter: Int?, into out: inout [UInt8]) {
            for index in 0..<group.count where out.count < limit {
                if index > 0, group.hasComma { out.append(UInt8(ascii: ",")) }
                at = group.body.lowerBound
                // A group with one repetition uses the counter of its surroundings.
                expand(until: group.body.upperBound, counter: group.count == 1 ? counter : index, into: &out)
            }
            at = group.body.upperBound + 2
        }

        private struct Group {
            var count: Int
            var hasComma: Bool
            var body: Range<Int>
        }

        /// Returns the group that begins at an offset, or nil if there is no complete group.
        private func group(at start: Int, before stop: Int) -> Group? {
            guard start + 4 < stop, bytes[start] == UInt8(ascii: "<"), bytes[start + 1] == UInt8(ascii: "<") else {
                return nil
            }
            var position = start + 2
            var count = 0
            while position < stop, count < 1_000_000, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10
            {
                count = count * 10 + Int(digit)
                position += 1
            }
            let hasComma = position < stop && bytes[position] == UInt8(ascii: ",")
            if hasComma { position += 1 }
            guard position < stop, position > start + 2, bytes[position] == UInt8(ascii: ":") else { return nil }
            let first = position + 1
            var depth = 1
            position = first
            while position + 1 < stop {
                if bytes[position] == UInt8(ascii: "<"), bytes[position + 1] == UInt8(ascii: "<") {
                    depth += 1
                    position += 1
                } else if bytes[position] == UInt8(ascii: ">"), bytes[position + 1] == UInt8(ascii: ">") {
                    depth -= 1
                    if depth == 0 { return Group(count: count, hasComma: hasComma, body: first..<position) }
                    position += 1
                }
                position += 1
            }
            return nil
        }
    }
}
