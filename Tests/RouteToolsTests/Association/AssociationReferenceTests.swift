@testable internal import RouteTools
internal import TestSupport
internal import Testing

/// The article about association files.
@Suite struct AssociationReferenceTests {
    private let page: ReferencePage

    init() throws { page = try ReferencePage(path: "Sources/RouteTools/RouteTools.docc/AssociationFiles.md") }

    @Test("The article lists every code, in the order of the declaration")
    func codes() throws {
        let table = try #require(page.table("Codes", "Code"))
        #expect(table.names == AssociationProblem.Code.allCases.map(\.rawValue))
    }

    @Test("The article states every limit")
    func limits() throws {
        let table = try #require(page.table("Limits", "Limit"))
        let values = table.rows.map { $0[1] }
        #expect(
            values == [
                "\(AssociationLimits.maxBytes) bytes", "\(AssociationLimits.maxDepth) levels",
                "\(AssociationLimits.maxComponents) components", "\(AssociationLimits.maxListed) components",
                "\(AssociationLimits.maxElements) elements", "\(AssociationLimits.maxAttributes) attributes",
                "\(AssociationLimits.maxPaths) values",
                "\(AssociationLimits.maxPattern) UTF-16 code units", "\(ScalarAutomaton.maxStates) states",
                "\(PathSearch<ApplePlatform>.maxStates) states", "\(HandingOrigins.maxCount) origins",
                "\(AssociationJSON.maxProblems) problems", "\(AssociationLimits.maxFindings) findings",
            ])
    }

    @Test("The article lists every system")
    func systems() throws {
        let table = try #require(page.table("Systems", "System"))
        #expect(table.names == AssociationCheck.System.allCases.map(\.rawValue))
    }
}
