internal import StrictJSON

/// Finds the positions of many problems in a valid file: one pass for all lines, and a descent for each pointer.
///
/// `JSONLocation.locate` reads the file once for each position. It is used for the single error of a malformed file.
struct ProblemLocations {
    private let file: [UInt8]
    private let value: JSONValue

    /// Creates a finder for a file, or returns nil if the file is not valid JSON.
    init?(_ file: [UInt8]) {
        guard let value = try? JSONValue.parse(file, maxDepth: TableSource.maxFileDepth) else { return nil }
        self.file = file
        self.value = value
    }

    /// Returns the positions of byte offsets.
    ///
    /// Each offset is the start of a value or name, or inside a text.
    func locations(of offsets: [Int]) -> [JSONLocation] {
        var locations: [Int: JSONLocation] = [:]
        var (line, column, at) = (1, 1, 0)
        for offset in offsets.sorted() where locations[offset] == nil {
            while at < min(offset, file.count) {
                if file[at] == UInt8(ascii: "\n") {
                    (line, column) = (line + 1, 1)
                } else if file[at] & 0xC0 != 0x80 {
                    column += 1
                }
                at += 1
            }
            locations[offset] = JSONLocation(line: line, column: column, pointer: pointer(to: offset))
        }
        return offsets.compactMap { locations[$0] }
    }

    private func pointer(to offset: Int) -> String {
        var out = ""
        var at = value
        while offset > at.offset {
            switch at.kind {
            case .object(let members):
                guard let index = Self.last(members, before: offset, { $0.nameOffset - 1 }) else { return out }
                out += JSONLocation.step(members[index].name)
                at = members[index].value
            case .array(let elements):
                guard let index = Self.last(elements, before: offset, \.offset) else { return out }
                out += "/\(index)"
                at = elements[index]
            default: return out
            }
        }
        return out
    }

    /// Returns the index of the last item that begins at or before an offset, or nil.
    private static func last<Item>(_ items: [Item], before offset: Int, _ start: (Item) -> Int) -> Int? {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if start(items[middle]) <= offset { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }
}
