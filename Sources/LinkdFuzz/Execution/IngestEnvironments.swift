internal import LinkCoordinator
internal import LinkIngest

/// Environments with the shipped vendors and link platforms, for the target `ingest` and the hostile benchmark.
extension FuzzEnvironment {
    /// Creates the environments of the target `ingest`.
    ///
    /// - Throws: An error if a file cannot be read or a table cannot be loaded.
    package static func ingest() throws -> [FuzzEnvironment] {
        let shop = try file("routes/shop.json")
        let vault = Array(FuzzTables.vault.utf8)
        let attic = Array(FuzzTables.attic.utf8)
        let vendors = try file("vendors.json")
        let platforms = try LinkPlatforms(file: try file("link-platforms.json"))
        return [
            try FuzzEnvironment(
                "vendors", files: [shop], contextQuery: QueryNames.campaign + ["link", "count"], vendors: vendors,
                platforms: platforms),
            try FuzzEnvironment(
                "vendors and several tables", files: [shop, vault, attic], passthrough: ["campaign", "x", "aps"],
                vendors: vendors, platforms: platforms, shortLinks: ShortLinkRows.forged),
            try FuzzEnvironment(
                "vendors and low limits", files: [shop],
                limits: Limits(recordBytes: 64 << 10, depth: 12, devices: 40), vendors: vendors,
                platforms: platforms),
            try FuzzEnvironment(
                "vendors with large forms", files: [shop, vault], vendors: Array(largeForms.utf8),
                platforms: platforms),
            try FuzzEnvironment(
                "short links without rules", files: [shop], contextQuery: QueryNames.campaign, vendors: vendors,
                shortLinks: ShortLinkRows.forged),
        ]
    }

    /// A vendor table whose forms have the maximum number of buttons, JSON in strings, and all kinds of conditions.
    private static let largeForms = #"""
        {"schemaVersion":1,"vendors":[{"id":"acme","name":"Acme","sources":[],"examples":[],"forms":[
        {"on":["apple"],"marks":[["/m"]],"embedded":["/a"],"links":["/a/url"],"message":["/a/id"],
        "buttons":[{"members":"/buttons","links":["/url"]}]},
        {"on":["android"],"marks":[["/m"]],"embedded":["/b"],"links":["/b/url"],"message":["/b/id"],
        "buttons":[{"numbered":{"from":0,"count":64},"id":"/b/{N}/id","links":["/b/{N}/url"]}]},
        {"on":["web"],"marks":[["/m"],["/"],[{"prefix":"~"}]],"embedded":["/c","/a/x"],"links":["//url","/c/url"]}
        ]}]}
        """#
}
