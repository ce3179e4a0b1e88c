internal import ByteStorage

/// Objects that a list has read before, with which it reads objects that differ only in their strings and numbers.
///
/// Producers write the same members in the same order with the same white space. A template has the bytes of such an
/// object and the places of its values. If a later object has the same bytes between its strings and numbers, it has
/// the same grammar, names, and nesting, and only its strings and numbers are read. Every byte is compared or read, so
/// a template saves time and never changes a result.
struct TapeTemplates: ~Copyable {
    /// The limit of templates, which have at most 64 KiB together.
    static let most = 8
    /// The limit of the bytes of an object.
    static let textBytes = 4096
    /// The limit of the values in an object.
    static let valueCount = 96
    /// After this many objects without a template, beyond the number of objects with one, none is learned for a pause.
    private static let mostMisses = 128
    /// The number of objects without a template in a pause.
    private static let pause = 4096

    /// A value of a template.
    ///
    /// Strings and numbers are the gaps in the bytes that are compared. Most offsets, in bytes, count from the end of
    /// the last gap before them, or from the start of the object if there is none.
    struct Place: BitwiseCopyable {
        var parent: Int32
        /// The index after the last value inside this one.
        var nodeEnd: Int32
        var nameHash: UInt32
        var kind: JSONTape.Kind
        /// The number of bytes of the name, or -1 for an element of an array and the object itself.
        var nameCount: Int32
        /// The offsets of the name and of the value from the last gap.
        var name: Int32
        var start: Int32
        /// The number of bytes of a Boolean value or null.
        var textCount: Int32
        /// The offset of the end: of a gap from the start of the object, and of an array or object from the end of
        /// `gap`.
        var end: Int32
        /// The index of the last gap before the end of an array or object, or -1.
        var gap: Int32 = -1
    }

    /// The text and the values of an object.
    struct Template: BitwiseCopyable {
        let text = UnsafeMutablePointer<UInt8>.allocate(capacity: TapeTemplates.textBytes)
        let places = UnsafeMutablePointer<Place>.allocate(capacity: TapeTemplates.valueCount)
        var textCount = 0
        var valueCount = 0
        /// The number of arrays and objects around the innermost value.
        var depth = 0
        /// The number of the template among all that were learned.
        var shape: UInt32 = 0
    }

    let templates = UnsafeMutablePointer<Template>.allocate(capacity: most)
    private(set) var count = 0
    /// The template of the last object that had one.
    var last = 0
    /// The template that is replaced next.
    private var next = 0
    /// The number of templates that were learned.
    private var learned: UInt32 = 0
    private var misses = 0
    private var paused = 0

    deinit {
        for index in 0..<count {
            templates[index].text.deallocate()
            templates[index].places.deallocate()
        }
        templates.deallocate()
    }

    /// Counts an object with a template.
    @inline(__always)
    mutating func countHit(_ index: Int) {
        last = index
        if misses > 0 { misses &-= 1 }
    }

    /// Counts an object without a template, and returns a Boolean value that indicates whether to learn it.
    mutating func countMiss() -> Bool {
        if paused > 0 {
            paused -= 1
            return false
        }
        misses += 1
        if misses <= Self.mostMisses { return true }
        misses = 0
        paused = Self.pause
        return false
    }

    /// Adds an object whose values are the first `valueCount` of a list.
    ///
    /// Returns the shape of the object, or 0 if it is not added.
    @inline(never)
    mutating func learn(_ nodes: JSONTape.Nodes, _ valueCount: Int) -> UInt32 {
        let text = nodes[0].text
        guard valueCount <= Self.valueCount, text.count <= Self.textBytes else { return 0 }
        // A name with an escape is not in the text as it is.
        for index in 1..<max(valueCount, 1) where nodes.kind(of: nodes[index].parent) == .object {
            let name = nodes[index].name
            guard name.start > text.start, name.end < text.end else { return 0 }
        }
        let index = next
        if index == count {
            (templates + index).initialize(to: Template())
            count += 1
        }
        next = (index + 1) % Self.most
        let template = templates + index
        template.pointee.text.update(from: text.start, count: text.count)
        template.pointee.textCount = text.count
        template.pointee.valueCount = valueCount
        template.pointee.depth = 0
        last = index
        learned &+= 1
        template.pointee.shape = learned
        addPlaces(nodes, to: template)
        return learned
    }

    private func addPlaces(_ nodes: JSONTape.Nodes, to template: UnsafeMutablePointer<Template>) {
        let object = nodes[0].text.start
        let count = template.pointee.valueCount
        // The end of the last string or number before each value, and its index.
        var gaps = [(index: Int32(-1), end: object)]
        var depths: [Int] = []
        for index in 0..<count {
            let node = nodes[index]
            let gap = gaps[index].end
            let isMember = index > 0 && nodes.kind(of: node.parent) == .object
            var place = TapeTemplates.Place(
                parent: node.parent, nodeEnd: node.end, nameHash: node.nameHash, kind: node.kind,
                nameCount: isMember ? Int32(node.name.count) : -1, name: isMember ? Int32(node.name.start - gap) : 0,
                start: Int32(node.start - gap), textCount: Int32(node.text.count), end: 0)
            depths.append(node.parent < 0 ? 0 : depths[Int(node.parent)])
            switch node.kind {
            case .array, .object: depths[index] += 1
            case .string, .number:
                let end = node.kind == .string ? node.text.end + 1 : node.text.end
                place.end = Int32(end - object)
                gaps.append((Int32(index), end))
            case .null, .boolean: break
            }
            if gaps.count == index + 1 { gaps.append(gaps[index]) }
            template.pointee.places[index] = place
        }
        for index in 0..<count where nodes[index].kind == .array || nodes[index].kind == .object {
            let (gap, end) = gaps[Int(nodes[index].end)]
            template.pointee.places[index].gap = gap
            template.pointee.places[index].end = Int32(nodes[index].text.end - end)
        }
        template.pointee.depth = depths.max() ?? 0
    }
}

extension JSONTape {
    /// Appends the object at a cursor by the template that it has.
    ///
    /// Returns false if it has none. The cursor and the list are as before then.
    mutating func appendKnown(at cursor: inout JSONCursor) -> Bool {
        let start = cursor.position
        var index = templates.last
        for _ in 0..<templates.count {
            if append(templates.templates + index, at: &cursor) {
                templates.countHit(index)
                return true
            }
            cursor.position = start
            index &+= 1
            if index == templates.count { index = 0 }
        }
        return false
    }

    private mutating func append(
        _ template: UnsafeMutablePointer<TapeTemplates.Template>, at cursor: inout JSONCursor
    ) -> Bool {
        let object = cursor.position
        let end = cursor.end
        let count = template.pointee.valueCount
        guard cursor.depth &+ template.pointee.depth <= cursor.depthLimit, count <= capacity else { return false }
        var gap = object
        var known = UnsafePointer(template.pointee.text)
        for index in 0..<count {
            let place = template.pointee.places + index
            let start = Int(place.pointee.start)
            guard end - gap > start else { return false }
            let node = nodes + index
            var count = Int(place.pointee.textCount)
            var hasEscape = false
            var isPlain = false
            var value = gap + start
            let first = gap
            if place.pointee.kind == .string || place.pointee.kind == .number {
                guard ByteView.equalBytes(gap, known, start) else { return false }
                cursor.position = value
                if place.pointee.kind == .string {
                    guard let string = string(at: value, &cursor, isPlain: &isPlain) else { return false }
                    value = string.raw.start
                    count = string.raw.count
                    hasEscape = string.hasEscape
                } else {
                    let digit = value.pointee
                    guard digit == UInt8(ascii: "-") || digit &- UInt8(ascii: "0") < 10, let number = try? cursor.skip()
                    else { return false }
                    count = number.count
                }
                gap = cursor.position
                known = UnsafePointer(template.pointee.text) + Int(place.pointee.end)
            }
            node.initialize(
                to: Node(
                    name: place.pointee.nameCount < 0
                        ? .empty
                        : cursor.part(first + Int(place.pointee.name), count: Int(place.pointee.nameCount)),
                    text: cursor.part(value, count: count), parent: place.pointee.parent, end: place.pointee.nodeEnd,
                    nameHash: place.pointee.nameHash, kind: place.pointee.kind, hasEscape: hasEscape, isPlain: isPlain))
        }
        let rest = template.pointee.textCount &- (known - UnsafePointer(template.pointee.text))
        guard end - gap >= rest, ByteView.equalBytes(gap, known, rest) else { return false }
        cursor.position = gap + rest
        endContainers(template, object, &cursor)
        self.count = count
        shape = template.pointee.shape
        return true
    }

    /// Sets the texts of arrays and objects, which end after the values inside them.
    @inline(__always)
    private mutating func endContainers(
        _ template: UnsafeMutablePointer<TapeTemplates.Template>, _ object: UnsafePointer<UInt8>,
        _ cursor: inout JSONCursor
    ) {
        for index in 0..<template.pointee.valueCount {
            let place = template.pointee.places + index
            guard place.pointee.kind == .array || place.pointee.kind == .object else { continue }
            var gap = object
            if place.pointee.gap >= 0 {
                let last = nodes + Int(place.pointee.gap)
                gap = last.pointee.text.end + (last.pointee.kind == .string ? 1 : 0)
            }
            let node = nodes + index
            let start = node.pointee.text.start
            node.pointee.text = cursor.part(start, count: gap + Int(place.pointee.end) - start)
        }
    }

    /// Reads the string at an address, or returns nil if it is no valid string.
    @inline(__always)
    private func string(
        at start: UnsafePointer<UInt8>, _ cursor: inout JSONCursor, isPlain: inout Bool
    ) -> JSONString? {
        guard start.pointee == UInt8(ascii: "\"") else { return nil }
        if let string = cursor.plainString(at: start, cursor.end) {
            cursor.position = string.raw.end + 1
            isPlain = true
            return string
        }
        return try? cursor.anyString()
    }
}
