internal import LinkCoordinator
internal import LinkDecider
internal import LinkIngest

extension DeciderConfiguration {
    /// Creates the configuration of every decider of a command from its settings.
    init(_ settings: Settings, _ tables: [RouteTable], _ vendors: LoadedVendors, candidate: CanaryPlan? = nil) {
        self.init(
            tables: TableSet(tables), candidate: candidate, limits: Limits(settings),
            passthrough: settings.passthrough, contextQuery: settings.contextQuery, vendors: vendors.table,
            platforms: vendors.platforms, outputs: settings.outputs.names.count > 1 ? settings.outputs : nil,
            shortLinks: vendors.shortLinks)
    }
}

extension Settings {
    /// A registry without devices for checks that read no registry, or nil if the worker has none.
    ///
    /// An event with `user` is then valid, and has no devices.
    var emptyRegistry: GivenDevices? { text("devices.topic") == nil ? nil : GivenDevices() }
}

extension Limits {
    /// Creates the limits in the settings.
    init(_ settings: Settings) {
        self.init(
            recordBytes: Int(settings.number("limits.record.bytes")), depth: Int(settings.number("limits.json.depth")),
            devices: Int(settings.number("limits.devices")),
            decisionBytes: Int(settings.number("limits.decision.bytes")),
            outputBytes: Int(settings.number("limits.output.bytes")))
    }
}
