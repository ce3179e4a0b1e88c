internal import ByteStorage

/// The vendors whose messages are recognized: the file `vendors.json`, checked and compiled.
///
/// A table does not change. The lanes of a worker share it.
package final class VendorTable: @unchecked Sendable {
    // Unchecked because the compiled form points to memory that is not changed after the initializer.

    /// The vendors in the order of precedence.
    package let vendors: [VendorSource]
    let image: VendorImage
    private let memory: [UnsafeMutableRawPointer]

    /// Reads a table.
    ///
    /// - Parameter json: The bytes of the file.
    /// - Throws: The problems of the file with their locations.
    package convenience init(json: [UInt8]) throws(RuleFileFailure) {
        self.init(try VendorTableReader.read(json))
    }

    /// Compiles vendors.
    init(_ vendors: [VendorSource]) {
        self.vendors = vendors
        var compiler = VendorCompiler()
        image = compiler.compile(vendors)
        memory = compiler.memory
    }

    deinit {
        for block in memory { block.deallocate() }
    }

    /// The names of members that identify a vendor whose maps have their link where an event has its request.
    ///
    /// Such a map is read as an event, and these names make it possible to note that.
    var namesBesideLinks: [[UInt8]] {
        var names: [[UInt8]] = []
        for form in vendors.flatMap(\.forms) where form.record == nil {
            guard form.links.contains(where: { Self.requests.contains($0.pointer.segments[0]) }) else { continue }
            for name in form.marks.compactMap({ $0.lazy.compactMap(\.name).first }) {
                let bytes = Array(name.utf8)
                if !names.contains(bytes) { names.append(bytes) }
            }
        }
        return names
    }

    private static let requests: Set<String> = ["link", "path", "route", "payload"]

    /// Returns a form by its position among those of all vendors.
    func form(at index: Int) -> VendorForm? {
        var rest = index
        for vendor in vendors {
            if rest < vendor.forms.count { return vendor.forms[rest] }
            rest -= vendor.forms.count
        }
        return nil
    }
}

extension VendorCondition {
    /// The member at the top level that the condition requires, or nil.
    fileprivate var name: String? {
        switch self {
        case .present(let pointer), .tests(let pointer, _): pointer.segments[0]
        case .absent, .prefix, .shown: nil
        }
    }
}
