internal import LinkCoordinator
internal import ByteStorage
package import StrictJSON

/// A vendor of push messages: a row of the vendor table.
package struct VendorRow: Sendable {
    /// The id, as in a decision's `context.push`.
    package var id: String
    /// The name for people.
    package var name: String
    /// The documents and the source files from which the row was made.
    package var sources: [String] = []
    /// A sentence that explanations print, for example that the product has ended or that keys are not documented.
    package var remark: String?
    /// The kinds of bodies that the forms of the vendor's messages read.
    package var surfaces: VendorSurfaces = []
    /// The kinds of the events and the requests to send a message that are whole records.
    package var envelopes: [String] = []
    /// The row, with its positions in the file.
    var json: JSONValue

    /// The examples of the row.
    package var examples: [JSONValue] { json["examples"]?.array ?? [] }
    /// The forms of the vendor's messages, in the order in which they are tried.
    var forms: [JSONValue] { json["forms"]?.array ?? [] }
}

/// The vendors whose messages are recognized: the file `vendors.json`, checked and compiled.
///
/// A table does not change. The lanes of a worker share it.
package final class VendorTable: @unchecked Sendable {
    // Unchecked because the compiled form points to memory that is not changed after the initializer.

    /// The vendors in the order of precedence.
    package let vendors: [VendorRow]
    let image: VendorImage
    private let memory: TableStorage

    private init(_ reader: VendorTableReader) {
        vendors = reader.rows
        image = reader.compiler.image(reader.rows.map(\.id))
        memory = reader.memory
    }

    /// Reads a table.
    ///
    /// - Parameter json: The bytes of the file.
    /// - Throws: The problems of the file with their locations.
    package convenience init(json: [UInt8]) throws(RuleFileFailure) {
        var reader = VendorTableReader()
        try reader.read(json)
        self.init(reader)
    }

    /// Compiles rows that were checked before.
    convenience init(_ rows: [JSONValue]) {
        var reader = VendorTableReader()
        for row in rows { reader.readRow(row) }
        self.init(reader)
    }

    /// The names of members that identify the maps of a vendor that has its link in a member such as `link`, like an
    /// event.
    ///
    /// Such a map is read as an event, and these names make it possible to note that.
    var namesBesideLinks: [[UInt8]] {
        let requests: [StaticString] = ["link", "path", "route", "payload"]
        var names: [[UInt8]] = []
        for form in image.forms where form.surfaces != .record {
            let isBesideLink = form.links.contains { link in
                requests.contains { image.slotNames[Int(link.pointer.slot)].equals($0) }
            }
            guard isBesideLink else { continue }
            for list in form.marks {
                guard let mark = list.first(where: { $0.kind == .present || $0.kind == .tests }) else { continue }
                let name = image.slotNames[Int(mark.pointer.slot)].array
                if !names.contains(name) { names.append(name) }
            }
        }
        return names
    }

    /// Returns the marks of a form, given its position among the forms of all vendors.
    func marks(ofForm index: Int) -> [JSONValue] {
        Array(vendors.lazy.flatMap(\.forms).dropFirst(index).prefix(1)).first?["marks"]?.array ?? []
    }
}
