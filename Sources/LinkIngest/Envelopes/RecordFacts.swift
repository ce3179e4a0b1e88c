internal import ByteStorage
internal import StrictJSON

// Reads the members of an event or a request that is a whole record and has a form of its own in the vendor table.
extension VendorReader {
    /// Returns the producer's id of the event, or an empty view.
    mutating func eventID(of form: Int32) -> ByteView { text(at: image.forms[Int(form)].record.event, bytes: 128) }

    /// Returns the id of the only device, or an empty view.
    mutating func deviceID(of form: Int32) -> ByteView { text(at: image.forms[Int(form)].record.device, bytes: 256) }

    /// Returns the id of the tapped button, or an empty view.
    mutating func action(of form: Int32) -> ByteView {
        for place in image.forms[Int(form)].record.action {
            let node = value(place)
            if tape.isString(node) { return tape.text(of: node) }
        }
        return .empty
    }

    /// Returns the platform of the device, or an empty view.
    mutating func platform(of form: Int32) -> ByteView {
        let record = image.forms[Int(form)].record
        for place in record.platform {
            let node = value(place)
            guard tape.isString(node) else { continue }
            let text = tape.text(of: node)
            for known in record.platformNames where known.name == text { return known.platform }
            return text.count <= IngestLimits.factBytes ? text : .empty
        }
        return .empty
    }

    /// Returns the array of the devices, or -1.
    mutating func devices(of form: Int32) -> Int32 {
        for place in image.forms[Int(form)].record.devices {
            let node = value(place)
            if node >= 0, tape.kind(of: node) == .array { return node }
        }
        return -1
    }

    /// Returns a Boolean value that indicates whether devices of the request can be beyond the limit of values.
    ///
    /// - Parameter list: The array of the devices, or -1.
    mutating func isCut(_ list: Int32, of form: Int32) -> Bool {
        if list >= 0 { return tape.nodes[Int(list)].isCut }
        let places = image.forms[Int(form)].record.devices
        if !tape.isCut || places.isEmpty { return false }
        for place in places where value(place) >= 0 { return false }
        return true
    }

    /// Returns a Boolean value that indicates whether the request is for devices that it does not name.
    mutating func isBroadcast(_ form: Int32) -> Bool { holds(image.forms[Int(form)].record.broadcast) }

    /// Returns the first string or number with a number of bytes from 1 to a limit, or an empty view.
    private mutating func text(at places: PointerImages, bytes: Int) -> ByteView {
        for place in places {
            let node = value(place)
            guard node >= 0, tape.kind(of: node) == .string || tape.kind(of: node) == .number else { continue }
            let text = tape.text(of: node)
            if (1...bytes).contains(text.count) { return text }
        }
        return .empty
    }
}
