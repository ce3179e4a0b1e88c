internal import LinkCoordinator
internal import ByteStorage
internal import StrictJSON

/// A writer of the compiled form of vendor tables.
struct VendorCompiler {
    let memory = TableStorage()
    private var forms: [FormImage] = []
    private var slots: [[UInt8]: Int32] = [:]
    private var slotNames: [ByteView] = []
    private var prefixes: [[UInt8]: Int32] = [:]
    private var prefixTexts: [ByteView] = []
    /// The forms that are tried if a slot or a prefix is present, and the forms that are always tried.
    private var formsOfSlots: [Int32: Set<Int>] = [:]
    private var formsOfPrefixes: [Int32: Set<Int>] = [:]
    private var always: Set<Int> = []

    /// Returns the compiled form of all forms for vendors with these ids.
    func image(_ vendors: [String]) -> VendorImage {
        var image = VendorImage()
        image.vendors = memory.store(vendors.map(text))
        image.forms = memory.store(forms)
        image.embeddings = memory.store(forms.indices.filter { !forms[$0].embedded.isEmpty }.map { Int32($0) })
        image.slotNames = memory.store(slotNames)
        image.names = names()
        image.prefixes = memory.store(prefixTexts)
        image.prefixBytes = image.prefixes.reduce(0) { $0 | VendorImage.prefixBit($1) }
        image.words = (forms.count + 63) / 64
        var sets: [UInt64] = []
        for slot in slotNames.indices { sets += set(formsOfSlots[Int32(slot)] ?? [], words: image.words) }
        for prefix in prefixTexts.indices { sets += set(formsOfPrefixes[Int32(prefix)] ?? [], words: image.words) }
        image.candidates = memory.store(sets)
        image.always = memory.store(set(always, words: image.words))
        return image
    }

    private func set(_ forms: Set<Int>, words: Int) -> [UInt64] {
        var set = [UInt64](repeating: 0, count: words)
        for form in forms { set[form / 64] |= 1 << UInt64(form % 64) }
        return set
    }

    /// Adds a form, also to the set of a name that must be present for each list of its marks.
    mutating func add(_ form: FormImage) {
        for list in form.marks {
            guard let condition = list.first(where: { $0.kind != .absent && $0.kind != .shown }) else {
                always.insert(forms.count)
                continue
            }
            if condition.kind == .prefix {
                formsOfPrefixes[condition.prefix, default: []].insert(forms.count)
            } else {
                formsOfSlots[condition.pointer.slot, default: []].insert(forms.count)
            }
        }
        forms.append(form)
    }

    /// Returns the hash table of the names, with an empty entry for each search to end at.
    private func names() -> UnsafeBufferPointer<NameImage> {
        var capacity = 16
        while capacity < 4 * slotNames.count { capacity *= 2 }
        var entries = [NameImage](repeating: NameImage(), count: capacity)
        for (slot, name) in slotNames.enumerated() {
            let hash = name.nameHash
            var place = Int(hash) & (capacity - 1)
            while entries[place].slot >= 0 { place = (place + 1) & (capacity - 1) }
            entries[place] = NameImage(hash: hash, slot: Int32(slot), name: name)
        }
        return memory.store(entries)
    }

    func text(_ text: String) -> ByteView { ByteView(memory.store(Array(text.utf8))) }

    private mutating func slot(_ name: String) -> Int32 {
        let bytes = Array(name.utf8)
        if let slot = slots[bytes] { return slot }
        slots[bytes] = Int32(slotNames.count)
        slotNames.append(text(name))
        return Int32(slotNames.count - 1)
    }

    mutating func prefix(_ text: String) -> Int32 {
        let bytes = Array(text.utf8)
        if let prefix = prefixes[bytes] { return prefix }
        prefixes[bytes] = Int32(prefixTexts.count)
        prefixTexts.append(self.text(text))
        return Int32(prefixTexts.count - 1)
    }

    /// Compiles a pointer.
    ///
    /// - Parameters:
    ///   - isInside: A Boolean value that indicates whether the pointer begins at a button.
    ///   - embedded: The places of JSON in strings of the form.
    mutating func pointer(_ pointer: JSONPath, isInside: Bool, _ embedded: [JSONPath]) -> PointerImage {
        var image = PointerImage()
        var steps = pointer.tokens[...]
        if !isInside {
            image.slot = slot(steps.removeFirst())
            image.embeddedAt = Int32(
                embedded.first { pointer.tokens.starts(with: $0.tokens) }?.tokens.count ?? 0)
        }
        image.steps = memory.store(steps.map { StepImage(name: text($0), index: Self.index($0)) })
        return image
    }

    /// Returns the index that a segment means in an array, or -1.
    private static func index(_ segment: String) -> Int32 {
        let isNumber = !segment.isEmpty && segment.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
        guard isNumber, segment == "0" || segment.utf8.first != UInt8(ascii: "0") else { return -1 }
        return Int32(segment) ?? -1
    }
}
