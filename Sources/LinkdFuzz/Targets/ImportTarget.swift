internal import LinkCoordinator
internal import LinkDecider
internal import RouteAnalysis
internal import RouteTools
internal import StrictJSON

/// The target `imports`. An input is a line with a letter, followed by the text of a person or of another system:
///
/// - `a`, `m`, and `n`: a file of `routes import`, which is an apple-app-site-association file, an Android manifest, or
///   the links of React Navigation. It becomes a valid table, or is refused at a place in it.
/// - `l`, with a screen in the line: the data of a link to the screen.
/// - `q`: the text of a QR code.
extension FuzzRunner {
    func runImport(_ input: [UInt8]) -> String? {
        let line = input.prefix { $0 != UInt8(ascii: "\n") }
        let body = Array(input.dropFirst(line.count + 1))
        switch line.first {
        case UInt8(ascii: "m"): return importViolation(body, .manifest)
        case UInt8(ascii: "n"): return importViolation(body, .reactNavigation)
        case UInt8(ascii: "l"): return linkViolation(String(decoding: line.dropFirst(), as: UTF8.self), body)
        case UInt8(ascii: "q"): return codeViolation(body)
        default: return importViolation(body, .aasa)
        }
    }

    private func importViolation(_ file: [UInt8], _ source: TableImport.Source) -> String? {
        do throws(AssociationProblem) {
            func imported() throws(AssociationProblem) -> TableImport {
                try TableImport(file, from: source, id: "t", hosts: source == .aasa ? ["shop.example"] : [])
            }
            let first = try imported()
            let problems = RouteTable.problems(in: Array(first.json.utf8))
            if let problem = problems.first(where: { $0.severity == .error }) {
                return "the table is not valid: \(problem.text(file: "table"))\n\(first.json)"
            }
            let second = try imported()
            if first.json != second.json || first.notes != second.notes { return "a second import is different" }
        } catch {
            let lines = file.count { $0 == UInt8(ascii: "\n") } + 1
            if error.line > lines { return "line \(error.line) of \(lines): \(error.message)" }
        }
        return nil
    }

    private func linkViolation(_ screen: String, _ text: [UInt8]) -> String? {
        guard let data = try? JSONValue.parse(text), let table = environments[0].configuration.tables.tables.first
        else { return nil }
        do throws(ScreenLink.Failure) {
            let link = try ScreenLink(to: screen.isEmpty ? nil : screen, data: data, in: table)
            if table.resolve(link.link).json != link.decision.json { return "\(link.link) has another decision" }
            return Self.decisionViolation(link.decision.json) ?? codeViolation(Array(link.link.utf8))
        } catch {
            return error.message.isEmpty || error.advice.isEmpty ? "a failure without a message" : nil
        }
    }

    private func codeViolation(_ bytes: [UInt8]) -> String? {
        guard let code = QRCode(bytes) else {
            return bytes.count <= QRCode.maxBytes ? "a text of \(bytes.count) bytes has no code" : nil
        }
        let isSquare = code.size == 17 + 4 * code.version && code.modules.count == code.size * code.size
        return isSquare && bytes.count <= QRCode.maxBytes ? nil : "a code of \(bytes.count) bytes has a wrong size"
    }
}
