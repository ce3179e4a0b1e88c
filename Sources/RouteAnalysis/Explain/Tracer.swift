internal import LinkCoordinator
internal import StrictJSON

/// Looks at a request phase by phase, beside the decision that was made of it.
///
/// It runs the resolver's own phases once more, one after another, and asks between them what they found; so it can
/// only say what a resolution does. What the traces need beyond that are the table's own words.
struct Tracer: ~Copyable {
    let table: RouteTable
    let request: UnsafePointer<RequestView>
    let facts: UnsafePointer<DeviceView>
    var resolver = Resolver()
    var compiler: TableCompiler
    var coordinators: Set<[UInt8]>
    /// Where the parts of the link stand; nil until a link was found.
    var places: LinkParts?
    /// Which block of the table reads the link, or would, were its scheme listed.
    var blockNumber = 0
    /// The values of the link's query as they came, by the number of their piece.
    var rawValues: [String] = []
    /// The patterns that `Explanation.rejected` tells, in its order.
    var misses: [RejectedPattern] = []

    init(_ table: RouteTable, _ request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>) {
        self.table = table
        self.request = request
        self.facts = facts
        compiler = TableCompiler(table.source, slab: Slab())
        compiler.number()
        coordinators = Set(table.source.coordinators.map { [UInt8]($0.name.value.utf8) })
    }
}
