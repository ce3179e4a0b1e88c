internal import LinkCoordinator
internal import StrictJSON

/// A trace of a request, phase by phase, in addition to its decision.
///
/// It runs the resolver's own phases again, one after another, and reads their results in between, so that the trace
/// agrees with the decision. All other information comes from the table itself.
struct Tracer: ~Copyable {
    let table: RouteTable
    let request: UnsafePointer<RequestView>
    let facts: UnsafePointer<DeviceView>
    var resolver = Resolver()
    var compiler: TableCompiler
    var coordinators: Set<[UInt8]>
    /// The parts of the link, or nil before a link was found.
    var linkParts: LinkParts?
    /// The index of the block that reads the link, or that would read it if its scheme were listed.
    var blockNumber = 0
    /// The original values of the link's query, by the index of their part.
    var rawValues: [String] = []
    /// The number of segments before the coordinator path of the request.
    var coordinatorPathStart = 0
    /// The patterns of `Explanation.rejected`, in its order.
    var rejectedPatterns: [RejectedPattern] = []

    init(_ table: RouteTable, _ request: UnsafePointer<RequestView>, _ facts: UnsafePointer<DeviceView>) {
        self.table = table
        self.request = request
        self.facts = facts
        compiler = TableCompiler(table.source, storage: TableStorage())
        compiler.number()
        coordinators = Set(table.source.coordinators.map { [UInt8]($0.name.value.utf8) })
    }

    /// The index of the selected route in the table, or nil if none is selected.
    var routeNumber: Int? {
        mutating get { resolver.selection.route.map { resolver.tableData.number(of: $0) } }
    }
}
