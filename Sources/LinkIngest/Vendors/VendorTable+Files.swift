internal import StrictJSON

// A table of several files.
extension VendorTable {
    /// Returns a table with the rows of another file added to those of this table.
    ///
    /// A row replaces the row with its id, in the place of that one. The other rows of the file have precedence over
    /// the rows of this table, because a file that is added knows the shipped vendors, but not the other way round.
    ///
    /// - Parameters:
    ///   - other: The table of the file.
    ///   - file: The bytes of the file, for the locations of problems.
    /// - Throws: The problems that only the rows of both have: too many rows, a kind of records with two forms, and
    ///   examples of the file that have another result.
    package func adding(_ other: VendorTable, of file: [UInt8]) throws(RuleFileFailure) -> VendorTable {
        var rows = vendors
        var added: [VendorSource] = []
        for row in other.vendors {
            if let place = rows.firstIndex(where: { $0.id == row.id }) { rows[place] = row } else { added.append(row) }
        }
        rows = added + rows
        var problems = other.duplicates(with: rows, in: file)
        if rows.count > VendorTableReader.mostVendors {
            let most = VendorTableReader.mostVendors
            problems.append(
                RuleFileProblem(
                    code: .tooMany, location: JSONLocation(line: 1, column: 1, pointer: "/vendors"),
                    expected: "expected at most \(most) vendors in all files, found \(rows.count)"))
        }
        if !problems.isEmpty { throw RuleFileFailure(problems: problems) }
        let table = VendorTable(rows)
        problems = table.failedExamples(of: other.vendors, in: file)
        if !problems.isEmpty { throw RuleFileFailure(problems: problems) }
        return table
    }

    /// Returns a problem for each kind of records of this table's rows that another row has too.
    private func duplicates(with rows: [VendorSource], in file: [UInt8]) -> [RuleFileProblem] {
        var problems: [RuleFileProblem] = []
        let json = try? JSONValue.parse(file)
        for (index, vendor) in vendors.enumerated() {
            for (number, form) in vendor.forms.enumerated() {
                guard let envelope = form.record?.envelope else { continue }
                let owner = rows.first { row in
                    row.id != vendor.id && row.forms.contains { $0.record?.envelope == envelope }
                }
                guard let owner else { continue }
                let value = json?["vendors"]?.array?[index]["forms"]?.array?[number]["envelope"]
                problems.append(
                    RuleFileProblem(
                        code: .duplicate, location: JSONLocation.locate(offset: value?.offset ?? 0, in: file),
                        expected: "expected a kind that no other form has, but the vendor `\(owner.id)` has it"))
            }
        }
        return problems
    }
}
