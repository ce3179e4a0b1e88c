internal import ByteStorage
internal import StrictJSON

/// The message that is read for one kind of device.
struct VendorMessage: BitwiseCopyable {
    /// The kind of the body.
    ///
    /// All kinds of devices are tried if it is not known.
    var surfaces: VendorSurfaces = .devices
    /// The objects of the top level, or -1.
    var first: Int32 = -1
    var second: Int32 = -1
    /// The form of a whole record, or -1.
    var recordForm: Int32 = -1
    /// The platform of the device, or none.
    var platform: VendorSurfaces = []
    /// The id of the tapped button, or an empty view.
    var action = ByteView.empty
    /// The links of the envelope itself, or -1.
    var ownLink: Int32 = -1
    var otherOwnLink: Int32 = -1
    /// The array of the envelope's own buttons, or -1.
    var ownButtons: Int32 = -1
    /// A Boolean value that indicates whether a header states that the message is a push in the background.
    var isBackground = false
    /// A Boolean value that indicates whether only `https` links of the envelope itself are opened.
    var requiresHTTPS = false
    /// A Boolean value that indicates whether the message is a test of the sender that reaches no device.
    var isDryRun = false
    /// The objects with what the push service itself shows, or -1.
    var notifications: (Int32, Int32) = (-1, -1)
    /// The objects and the link that only devices of other platforms read, or -1.
    var apple: Int32 = -1
    var android: Int32 = -1
    var web: Int32 = -1
    var webLink: Int32 = -1
}

// Reads a message in steps: the form, the ids, the tapped button, and the body.
extension VendorReader {
    /// The action of a tap on the notification itself.
    static let defaultAction: StaticString = "com.apple.UNNotificationDefaultActionIdentifier"
    /// The action of a notification that the user dismissed.
    static let dismissAction: StaticString = "com.apple.UNNotificationDismissActionIdentifier"

    /// Reads a message.
    mutating func read(_ message: VendorMessage) -> VendorReading {
        // The strings that another class of devices needs do not use up the limit of values.
        tape.forgetContents()
        namedButton = -1
        notifications = message.notifications
        surface.load(message.first, message.second, of: tape.nodes)
        var reading = VendorReading()
        reading.firstNote = notes.count
        if message.recordForm >= 0 {
            reading.form = message.recordForm
        } else {
            recognize(message.surfaces, &reading)
        }
        if reading.form >= 0 { reading.vendor = form(reading.form).pointee.vendor }
        noteInvalidText(reading, message)
        if reading.form >= 0 {
            reading.message = id(form(reading.form).pointee.message)
            reading.campaign = id(form(reading.form).pointee.campaign)
        }
        let isTapped = !message.action.isEmpty && !message.action.equals(Self.defaultAction)
        if message.isDryRun {
            note(.dryRun)
            reading.tapped.kind = .noLink
        } else if isTapped, message.action.equals(Self.dismissAction) {
            note(.dismissed)
            reading.tapped.kind = .noLink
        } else if isTapped {
            reading.tapped = tapped(message, reading)
        }
        reading.earlyNotes = notes.count - reading.firstNote
        if reading.tapped.kind == .undecided {
            if isTapped {
                note(.buttonUnknown)
                reading.body.kind = .noLink
            } else {
                reading.body = body(message, reading)
            }
        }
        reading.allNotes = notes.count - reading.firstNote
        return reading
    }

    // MARK: Ids

    /// The limit of an id, in bytes.
    static let idBytes = 128

    /// Returns the node of the first usable id, or -1.
    mutating func id(_ places: PointerImages) -> Int32 {
        for place in places {
            let node = value(place)
            guard node >= 0, tape.kind(of: node) == .number || tape.kind(of: node) == .string else { continue }
            if isUsableID(node) { return node }
            tests.giveUp()
            let text = tape.text(of: node)
            if !text.isEmpty { note(text.count > Self.idBytes ? .idTooLong : .idMalformed, at: node) }
        }
        return -1
    }

    /// Returns a Boolean value that indicates whether a string or number is an id within the limit, without control
    /// characters.
    mutating func isUsableID(_ node: Int32) -> Bool {
        let text = tape.text(of: node)
        guard 1...Self.idBytes ~= text.count else { return false }
        return tape.nodes[Int(node)].isPlain || Self.isPrintable(text)
    }

    /// Returns a Boolean value that indicates whether a text has no control or format character, and no white space
    /// other than U+0020.
    ///
    /// A format character, such as one that reverses the direction of text, gives an id another appearance in a report.
    static func isPrintable(_ text: ByteView) -> Bool {
        var isASCII = true
        for index in 0..<text.count {
            if text[index] < 0x20 || text[index] == 0x7F { return false }
            if text[index] >= 0x80 { isASCII = false }
        }
        return isASCII || hasOnlyPrintableScalars(text)
    }

    @inline(never)
    private static func hasOnlyPrintableScalars(_ text: ByteView) -> Bool {
        var decoder = UTF8()
        var bytes = text.buffer.makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&bytes) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: return false
            case .spaceSeparator: if scalar != " " { return false }
            default: continue
            }
        }
        return true
    }

    // MARK: The body

    private mutating func body(_ message: VendorMessage, _ reading: VendorReading) -> VendorOutcome {
        let form = reading.form >= 0 ? form(reading.form) : nil
        if message.isBackground || isBackground(message) || form.map({ holds($0.pointee.silent) }) ?? false {
            if form != nil { note(.silent) }
            return VendorOutcome(kind: .noLink)
        }
        if let form {
            if let outcome = outcome(of: form.pointee.links, on: message.platform) { return outcome }
            noteCustomAction(form.pointee.customActions)
            if holds(form.pointee.opensApp) { return VendorOutcome(kind: .opensApp) }
        }
        if let outcome = ownLink(message) { return outcome }
        noteWindow(message)
        noteOtherPlatforms(message)
        return VendorOutcome(kind: .noLink)
    }

    /// Returns a Boolean value that indicates whether the message is a background push of APNs.
    mutating func isBackground(_ message: VendorMessage) -> Bool {
        guard message.surfaces == .apple, message.recordForm < 0 else { return false }
        let aps = aps()
        guard aps >= 0 else { return false }
        var isBackground = false
        var node = tape.first(in: aps)
        let end = tape.end(of: aps)
        while node < end {
            let name = tape.nodes[Int(node)].name
            if name.count == 5, name.equals("alert") || name.equals("badge") || name.equals("sound") {
                if tape.kind(of: node) != .null { return false }
            } else if name.count == 17, name.equals("content-available") || name.equals("content_available") {
                isBackground = isBackground || equals(node, ByteView("1")) || equals(node, ByteView("true"))
            }
            node = tape.next(after: node)
        }
        return isBackground && !isShown
    }

    // MARK: Buttons

    /// Returns what the tapped button opens, or an undecided outcome if there is no such button.
    private mutating func tapped(_ message: VendorMessage, _ reading: VendorReading) -> VendorOutcome {
        if reading.form >= 0 {
            for set in form(reading.form).pointee.buttons {
                let (button, base) = find(message.action, in: set)
                guard let button else { continue }
                if let outcome = outcome(of: button.links, in: base, on: message.platform) { return outcome }
                noteCustomAction(button.customActions, in: base)
                if holds(button.opensApp, in: base) { return VendorOutcome(kind: .opensApp) }
                return button.opensBody ? body(message, reading) : VendorOutcome(kind: .noLink)
            }
        }
        return ownButton(message)
    }

    private mutating func find(_ action: ByteView, in set: ButtonSetImage) -> (button: ButtonImage?, base: Int32) {
        guard let first = set.descriptions.first else { return (nil, -1) }
        switch first.kind {
        case .list: return findElement(action, first)
        case .object: return findObject(action, first)
        case .members:
            let object = value(first.place)
            guard object >= 0 else { return (nil, -1) }
            let base = tape.member(action, of: object)
            namedButton = base
            let isFound = base >= 0 && tape.kind(of: base) == .object && isButton(first, base)
            return (isFound ? first : nil, base)
        case .numbered:
            for button in set.descriptions {
                let id = value(button.id)
                if id >= 0, equals(id, action), isButton(button, -1) { return (button, -1) }
            }
            guard let number = Self.number(action), set.descriptions.indices.contains(number - set.first) else {
                return (nil, -1)
            }
            let button = set.descriptions[number - set.first]
            let isFound = value(button.id) < 0 && isButton(button, -1)
            return (isFound ? button : nil, -1)
        }
    }

    mutating func isButton(_ button: ButtonImage, _ base: Int32) -> Bool {
        !button.hasRequirements || holds(button.requirements, in: base)
    }

    private mutating func findElement(
        _ action: ByteView, _ button: ButtonImage
    ) -> (button: ButtonImage?, base: Int32) {
        let array = value(button.place)
        guard array >= 0, tape.kind(of: array) == .array else { return (nil, -1) }
        var element = tape.first(in: array)
        var seen = 0
        var shown = 0
        while element < tape.end(of: array), seen < ButtonImage.most, shown < button.limit {
            if tape.kind(of: element) == .object, isButton(button, element) {
                let id = value(button.id, in: element)
                if id >= 0, equals(id, action) { return (button, element) }
                shown &+= 1
            }
            seen &+= 1
            element = tape.next(after: element)
        }
        return (nil, -1)
    }

    /// Returns the number that a text means in canonical form, or nil.
    private static func number(_ text: ByteView) -> Int? {
        guard (1...4).contains(text.count), text[0] != UInt8(ascii: "0") || text.count == 1 else { return nil }
        var number = 0
        for index in 0..<text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
        }
        return number
    }

    /// Returns what a button of the envelope itself opens.
    private mutating func ownButton(_ message: VendorMessage) -> VendorOutcome {
        let array = message.ownButtons
        guard array >= 0, tape.kind(of: array) == .array else { return VendorOutcome() }
        var element = tape.first(in: array)
        var seen = 0
        while element < tape.end(of: array), seen < ButtonImage.most {
            let id = tape.member(ByteView("action"), of: element)
            if id >= 0, equals(id, message.action) {
                return outcome(ofLinkAt: tape.member(ByteView("navigate"), of: element))
                    ?? VendorOutcome(kind: .noLink)
            }
            seen &+= 1
            element = tape.next(after: element)
        }
        return VendorOutcome()
    }
}
