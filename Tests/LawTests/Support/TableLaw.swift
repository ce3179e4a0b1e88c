import LinkCoordinator
import RouteAnalysis
import TableSupport
import TestSupport
import Testing

/// A generated table that was loaded, in the forms that the laws use.
struct LawTable {
    var generated: GeneratedTable
    let table: RouteTable
    /// The table with a fixed hash, so that decisions of its variants can be compared byte for byte.
    let compiled: CompiledTable

    init(_ generated: GeneratedTable, _ table: RouteTable) {
        self.generated = generated
        self.table = table
        compiled = CompiledTable(table.source, hash: "0")
    }

    /// Returns the next table of a generator.
    static func next(_ generator: inout TableGenerator) throws -> LawTable {
        let seed = generator.patterns.generator.seed
        let found = generator.loadableTable()
        let loaded = try #require(found, "no table of seed \(seed) loads")
        return LawTable(loaded.generated, loaded.table)
    }
}

/// The link and devices of a case of a law about tables.
struct LawInput {
    let link: GeneratedLink
    /// The devices that the law compares.
    let devices: ArraySlice<DeviceView>
    let compiled: CompiledTable
    /// The source of the choices that the law makes for the link.
    let seed: UInt64

    /// The first device.
    var device: DeviceView { devices[devices.startIndex] }
    /// The bytes of the link.
    var bytes: [UInt8] { Array(link.text.utf8) }
}

/// The result of a check of a law.
enum LawResult {
    /// The law holds for a number of cases, which is 0 if the law does not apply to the input.
    case holds(Int)
    /// The law does not hold. The texts are the evidence, such as two decisions that should be equal.
    case broken([[UInt8]])
}

/// A law about the decisions for links of generated tables.
///
/// A case is a link with a device.
protocol TableLaw {
    /// The values that are prepared once for all links of a table.
    associatedtype Context

    /// The name in reports.
    static var name: String { get }
    /// The seed of the tables.
    static var seed: UInt64 { get }
    /// The features of the tables.
    static var options: TableGenerator.Options { get }

    /// Returns the devices that the law compares for a device.
    static func devices(like device: DeviceFacts) -> [DeviceFacts]

    /// Returns the values for a table, or nil if the law does not apply to it.
    ///
    /// The result depends only on the table and the seed.
    mutating func prepare(_ table: LawTable, seed: UInt64) throws -> Context?

    /// Limits the links to those that the law applies to.
    func choose(_ links: inout LinkGenerator, _ context: Context)

    /// Checks one link.
    ///
    /// The result depends only on the input and the context.
    mutating func check(_ input: LawInput, _ context: Context, _ resolver: inout ReusedResolver) -> LawResult

    /// The counts for the record of a test run.
    var counts: KeyValuePairs<String, Int> { get }
}

extension TableLaw {
    static var options: TableGenerator.Options { TableGenerator.Options() }
    static func devices(like device: DeviceFacts) -> [DeviceFacts] { [device] }
    func choose(_ links: inout LinkGenerator, _ context: Context) {}
}

extension TableLaw {
    /// The number of links per table, which is large enough that a debug build loads few tables.
    private static var linksPerTable: Int { 100 }

    /// Checks the law for as many cases as `LINKD_TEST_CASES` says, and reports a counterexample in its smallest form.
    ///
    /// - Returns: The number of cases, or nil if the law does not hold.
    mutating func run() throws -> Int? {
        var tables = TableGenerator(seed: Self.seed, options: Self.options)
        var resolver = ReusedResolver()
        let kinds = LawDevices.all
        let devices = LawDevices(kinds.flatMap(Self.devices(like:)))
        let each = devices.facts.count / kinds.count
        var (cases, number) = (0, 0)
        while cases < LawCases.count {
            let table = try LawTable.next(&tables)
            let tableSeed = tables.patterns.generator.next()
            guard let context = try prepare(table, seed: tableSeed) else { continue }
            var links = LinkGenerator(table.table.source, seed: tables.patterns.generator.next())
            choose(&links, context)
            for _ in 0..<Self.linksPerTable {
                let kind = number % kinds.count
                number += 1
                let link = links.link()
                let input = LawInput(
                    link: link, devices: devices.facts[kind * each..<(kind + 1) * each], compiled: table.compiled,
                    seed: links.generator.next())
                switch check(input, context, &resolver) {
                case .holds(let count): cases += count
                case .broken:
                    report(
                        LawCase(
                            table: table.generated, link: link, device: kinds[kind], tableSeed: tableSeed,
                            linkSeed: input.seed), cases)
                    return nil
                }
            }
        }
        let counts = (["cases: \(cases)"] + counts.map { "\($0.key): \($0.value)" }).joined(separator: ", ")
        print("law \(Self.name): seed \(Self.seed), \(counts)")
        return cases
    }

    private func report(_ failing: LawCase, _ number: Int) {
        let found = shrunk(failing) { evidence($0) != nil }
        let texts = (evidence(found.smallest) ?? []).map { String(decoding: $0, as: UTF8.self) }
        Issue.record(
            """
            \(Self.name) does not hold: seed \(Self.seed), case \(number), without \(found.removed) parts that the \
            failure does not need (\(found.tries) smaller cases tried)
            \(found.smallest.text)
            \(texts.joined(separator: "\n"))
            """)
    }

    /// Returns the evidence that the law does not hold for a case, or nil.
    private func evidence(_ one: LawCase) -> [[UInt8]]? {
        var law = self
        var resolver = ReusedResolver()
        guard let loaded = RouteTable.check(one.table.json).table else { return nil }
        let table = LawTable(one.table, loaded)
        guard let context = try? law.prepare(table, seed: one.tableSeed) else { return nil }
        let devices = LawDevices(Self.devices(like: one.device))
        let input = LawInput(
            link: one.link, devices: devices.facts[...], compiled: table.compiled, seed: one.linkSeed)
        guard case .broken(let texts) = law.check(input, context, &resolver) else { return nil }
        return texts
    }
}
