internal import LinkCoordinator

extension TableSource {
    /// Index of the link block that reads links of a scheme, if it takes their host; nil if none does (N2, N3).
    ///
    /// - Parameters:
    ///   - host: In lower case; empty for none.
    ///   - port: nil for none, and for the scheme's own.
    func block(for scheme: String, _ host: [UInt8], _ port: UInt16?) -> Int? {
        guard let index = block(listing: scheme) else { return nil }
        let block = blocks[index]
        if block.hostRole == .authority && host.isEmpty && WebURL.isWeb(scheme) { return nil }
        return block.hostRole == .segment || block.hosts.contains { $0.value.takes(host: host, port: port) }
            ? index : nil
    }

    /// Index of the link block that takes links of a scheme, whatever their host; nil if none does (N2).
    func block(listing scheme: String) -> Int? {
        let listing = blocks.firstIndex { block in
            block.schemes.contains {
                block.schemeCase == .exact ? $0.value == scheme : $0.value.lowercased() == scheme.lowercased()
            }
        }
        return listing ?? blocks.firstIndex(where: \.takesOtherSchemes)
    }
}
