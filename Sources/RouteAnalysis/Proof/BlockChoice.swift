package import LinkCoordinator

extension TableSource {
    /// Returns the index of the link block that reads links of a scheme and allows their host, or nil if there is none.
    ///
    /// See RouteTableReference, "Scheme" and "Authority".
    ///
    /// - Parameters:
    ///   - host: The host in lowercase; empty for none.
    ///   - port: The port; nil for none and for the scheme's default.
    func block(for scheme: String, _ host: [UInt8], _ port: UInt16?) -> Int? {
        guard let index = block(listing: scheme) else { return nil }
        let block = blocks[index]
        if block.hostRole == .authority && host.isEmpty && WebURL.isWeb(scheme) { return nil }
        return block.hostRole == .segment || block.hosts.contains { $0.value.matches(host: host, port: port) }
            ? index : nil
    }

    /// Returns the index of the link block that lists a scheme, for any host, or nil if there is none.
    package func block(listing scheme: String) -> Int? {
        let listing = blocks.firstIndex { block in
            block.schemes.contains {
                block.schemeCase == .exact ? $0.value == scheme : $0.value.lowercased() == scheme.lowercased()
            }
        }
        return listing ?? blocks.firstIndex(where: \.acceptsOtherSchemes)
    }
}
