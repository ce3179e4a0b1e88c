internal import ByteStorage
internal import StrictJSON

/// A compiler of vendor tables.
struct VendorCompiler {
    /// The blocks of the compiled form, which the caller deallocates.
    private(set) var memory: [UnsafeMutableRawPointer] = []
    private var slots: [[UInt8]: Int32] = [:]
    private var slotNames: [ByteView] = []
    private var prefixes: [[UInt8]: Int32] = [:]
    private var prefixTexts: [ByteView] = []
    /// The forms that are tried if a slot or a prefix is present, and those that are always tried.
    private var formsOfSlots: [Int32: Set<Int>] = [:]
    private var formsOfPrefixes: [Int32: Set<Int>] = [:]
    private var always: Set<Int> = []
    /// The places of JSON in strings of the current form.
    private var embedded: [VendorPointer] = []

    mutating func compile(_ vendors: [VendorSource]) -> VendorImage {
        var forms: [FormImage] = []
        for (index, vendor) in vendors.enumerated() {
            for form in vendor.forms {
                addCandidate(form.marks, form: forms.count)
                forms.append(compile(form, vendor: index))
            }
        }
        var image = VendorImage()
        image.vendors = store(vendors.map { text($0.id) })
        image.forms = store(forms)
        image.embeddings = store(forms.indices.filter { !forms[$0].embedded.isEmpty }.map { Int32($0) })
        image.names = names()
        image.slots = slotNames.count
        image.prefixes = store(prefixTexts)
        image.prefixBytes = image.prefixes.reduce(0) { $0 | VendorImage.prefixBit($1) }
        image.words = (forms.count + 63) / 64
        var sets: [UInt64] = []
        for slot in slotNames.indices { sets += set(formsOfSlots[Int32(slot)] ?? [], words: image.words) }
        for prefix in prefixTexts.indices { sets += set(formsOfPrefixes[Int32(prefix)] ?? [], words: image.words) }
        image.candidates = store(sets)
        image.always = store(set(always, words: image.words))
        return image
    }

    private func set(_ forms: Set<Int>, words: Int) -> [UInt64] {
        var set = [UInt64](repeating: 0, count: words)
        for form in forms { set[form / 64] |= 1 << UInt64(form % 64) }
        return set
    }

    /// Adds a form to the set of a name that must be present for each list of its marks.
    private mutating func addCandidate(_ marks: VendorRules, form: Int) {
        for list in marks {
            var isAdded = false
            for condition in list where !isAdded {
                switch condition {
                case .present(let pointer), .tests(let pointer, _):
                    formsOfSlots[slot(pointer.segments[0]), default: []].insert(form)
                case .prefix(let text): formsOfPrefixes[prefix(text), default: []].insert(form)
                case .absent, .shown: continue
                }
                isAdded = true
            }
            if !isAdded { always.insert(form) }
        }
    }

    /// Returns the hash table of the names, with an empty entry for each search to end at.
    private mutating func names() -> UnsafeBufferPointer<NameImage> {
        var capacity = 16
        while capacity < 4 * slotNames.count { capacity *= 2 }
        var entries = [NameImage](repeating: NameImage(), count: capacity)
        for (slot, name) in slotNames.enumerated() {
            let hash = name.nameHash
            var place = Int(hash) & (capacity - 1)
            while entries[place].slot >= 0 { place = (place + 1) & (capacity - 1) }
            entries[place] = NameImage(hash: hash, slot: Int32(slot), name: name)
        }
        return store(entries)
    }

    // MARK: Memory

    private mutating func store<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafeBufferPointer<Element> {
        if elements.isEmpty { return UnsafeBufferPointer(start: nil, count: 0) }
        let block = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
        for (index, element) in elements.enumerated() { (block + index).initialize(to: element) }
        memory.append(UnsafeMutableRawPointer(block))
        return UnsafeBufferPointer(start: block, count: elements.count)
    }

    private mutating func text(_ text: String) -> ByteView { ByteView(store(Array(text.utf8))) }

    private mutating func slot(_ name: String) -> Int32 {
        let bytes = Array(name.utf8)
        if let slot = slots[bytes] { return slot }
        let slot = Int32(slotNames.count)
        slots[bytes] = slot
        slotNames.append(text(name))
        return slot
    }

    private mutating func prefix(_ text: String) -> Int32 {
        let bytes = Array(text.utf8)
        if let prefix = prefixes[bytes] { return prefix }
        let prefix = Int32(prefixTexts.count)
        prefixes[bytes] = prefix
        prefixTexts.append(self.text(text))
        return prefix
    }
}

// MARK: Parts

extension VendorCompiler {
    private mutating func compile(_ form: VendorForm, vendor: Int) -> FormImage {
        embedded = []
        let places = pointers(form.embedded)
        embedded = form.embedded
        return FormImage(
            vendor: Int32(vendor), surfaces: form.surfaces, marks: rules(form.marks), embedded: places,
            silent: rules(form.silent), links: links(form.links), opensApp: rules(form.opensApp),
            customActions: rules(form.customActions), buttons: buttons(form.buttons), message: pointers(form.message),
            campaign: pointers(form.campaign),
            record: form.record.map { record($0) } ?? RecordFormImage())
    }

    private mutating func record(_ form: VendorRecordForm) -> RecordFormImage {
        RecordFormImage(
            envelope: text(form.envelope), event: pointers(form.event), device: pointers(form.device),
            devices: pointers(form.devices), platform: pointers(form.platform), action: pointers(form.action),
            broadcast: rules(form.broadcast),
            platformNames: store(
                form.platformNames.map { PlatformNameImage(name: text($0.name), platform: text($0.platform)) }))
    }

    private mutating func pointers(_ pointers: [VendorPointer]) -> PointerImages {
        store(pointers.map { pointer($0, isInside: false) })
    }

    /// Compiles a pointer.
    ///
    /// - Parameter isInside: A Boolean value that indicates whether the pointer begins at a button.
    private mutating func pointer(_ pointer: VendorPointer, isInside: Bool) -> PointerImage {
        var image = PointerImage()
        var segments = pointer.segments[...]
        if !isInside {
            image.slot = slot(segments.removeFirst())
            image.embeddedAt = Int32(embedded.first { $0.isPrefix(of: pointer) }?.segments.count ?? 0)
        }
        image.steps = store(segments.map { StepImage(name: text($0), index: Self.index($0)) })
        return image
    }

    /// Returns the index that a segment means in an array, or -1.
    private static func index(_ segment: String) -> Int32 {
        let isNumber = !segment.isEmpty && segment.utf8.allSatisfy { VendorTableReader.isDigit($0) }
        guard isNumber, segment == "0" || segment.utf8.first != UInt8(ascii: "0") else { return -1 }
        return Int32(segment) ?? -1
    }

    private mutating func rules(_ rules: VendorRules, isInside: Bool = false) -> RuleImages {
        store(rules.map { conditions($0, isInside: isInside) })
    }

    private mutating func conditions(_ conditions: [VendorCondition], isInside: Bool = false) -> ConditionImages {
        store(conditions.map { condition($0, isInside: isInside) })
    }

    private mutating func condition(_ condition: VendorCondition, isInside: Bool) -> ConditionImage {
        var image = ConditionImage()
        switch condition {
        case .present(let place): image.pointer = pointer(place, isInside: isInside)
        case .absent(let place):
            image.kind = .absent
            image.pointer = pointer(place, isInside: isInside)
        case .prefix(let text):
            image.kind = .prefix
            image.prefix = prefix(text)
        case .tests(let place, let tests):
            image.kind = .tests
            image.pointer = pointer(place, isInside: isInside)
            image.valueKind = tests.kind
            image.hasEquals = tests.equals != nil
            image.equals = store((tests.equals ?? []).map { text($0) })
            image.notEquals = store((tests.notEquals ?? []).map { text($0) })
            image.start = tests.start.map { text($0) }
            image.empty = tests.empty
        case .shown(let isShown):
            image.kind = .shown
            image.isShown = isShown
        }
        return image
    }

    private mutating func links(_ links: [VendorLink], isInside: Bool = false) -> UnsafeBufferPointer<LinkImage> {
        store(
            links.map { link in
                LinkImage(
                    pointer: pointer(link.pointer, isInside: isInside),
                    conditions: conditions(link.conditions, isInside: isInside), platform: link.platform ?? [],
                    wrapperScheme: link.wrapper.map { text($0.scheme) } ?? .empty,
                    wrapperSegment: link.wrapper.map { text($0.segment) } ?? .empty)
            })
    }

    private mutating func buttons(_ sets: [VendorButtonSet]) -> UnsafeBufferPointer<ButtonSetImage> {
        store(
            sets.map { set in
                let descriptions = set.descriptions.enumerated().map { index, description in
                    button(description, id: set.ids.isEmpty ? nil : set.ids[index])
                }
                return ButtonSetImage(descriptions: store(descriptions), first: set.first)
            })
    }

    private mutating func button(_ buttons: VendorButtons, id: VendorPointer?) -> ButtonImage {
        var image = ButtonImage(
            kind: .numbered, place: PointerImage(), id: PointerImage(), requirements: store([]),
            hasRequirements: buttons.requirements != nil, links: store([]), limit: buttons.limit, opensApp: store([]),
            customActions: store([]), opensBody: buttons.opensBody)
        switch buttons.place {
        case .list(let list, let id):
            image.kind = .list
            image.place = pointer(list, isInside: false)
            image.id = pointer(id, isInside: true)
        case .object(let object, let id):
            image.kind = .object
            image.place = pointer(object, isInside: false)
            image.id = pointer(id, isInside: true)
        case .members(let object):
            image.kind = .members
            image.place = pointer(object, isInside: false)
        case .numbered: image.id = id.map { pointer($0, isInside: false) } ?? PointerImage()
        }
        let isInside = image.kind != .numbered
        image.requirements = rules(buttons.requirements ?? [], isInside: isInside)
        image.links = links(buttons.links, isInside: isInside)
        image.opensApp = rules(buttons.opensApp, isInside: isInside)
        image.customActions = rules(buttons.customActions, isInside: isInside)
        return image
    }
}
