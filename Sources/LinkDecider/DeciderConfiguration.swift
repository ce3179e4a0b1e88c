package import LinkCoordinator
package import LinkIngest
package import ShortLinks

/// Everything that determines how a record is decided.
///
/// Two deciders with the same configuration return the same bytes for the same record if the same is known about its
/// devices.
package struct DeciderConfiguration: Sendable {
    package var tables: TableSet
    /// The candidate for one of the tables, or nil.
    package var candidate: CanaryPlan?
    /// The limits of a record and of its decisions.
    package var limits: Limits
    /// The names of the event's members that are copied into `context`.
    package var passthrough: Passthrough
    /// The names of the link's query items that are copied into `context.query`.
    package var contextQuery: [String]
    /// The vendors whose messages are recognized, or nil for none.
    package var vendors: VendorTable?
    /// The link platforms whose links are replaced by their destinations, or nil for none.
    package var platforms: LinkPlatforms?
    /// The topics of the decisions, or nil if all decisions go to one.
    ///
    /// They never change the bytes of a decision.
    package var outputs: OutputTopics?
    /// The file with the destinations of short links, or nil for none.
    package var shortLinks: ShortLinkSource?

    /// Creates a configuration.
    package init(
        tables: TableSet, candidate: CanaryPlan? = nil, limits: Limits = Limits(), passthrough: Passthrough = [],
        contextQuery: [String] = [], vendors: VendorTable? = nil, platforms: LinkPlatforms? = nil,
        outputs: OutputTopics? = nil, shortLinks: ShortLinkSource? = nil
    ) {
        self.tables = tables
        self.candidate = candidate
        self.limits = limits
        self.passthrough = passthrough
        self.contextQuery = contextQuery
        self.vendors = vendors
        self.platforms = platforms
        self.outputs = outputs
        self.shortLinks = shortLinks
    }
}

extension EventReader {
    /// Creates the reader of a decider with a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - devices: The devices about which more is known than events say, or nil for no join.
    package init(_ configuration: DeciderConfiguration, devices: (any KnownDevices)? = nil) {
        self.init(
            limits: configuration.limits, passthrough: configuration.passthrough, vendors: configuration.vendors,
            platforms: configuration.platforms, shortLinks: configuration.shortLinks?.file,
            keepsWrappers: !configuration.contextQuery.isEmpty, devices: devices)
    }
}
