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
