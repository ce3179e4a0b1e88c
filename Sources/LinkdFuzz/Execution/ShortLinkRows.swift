/// Short links for environments and inputs.
enum ShortLinkRows {
    /// A short link without its scheme, and its destination.
    typealias Row = (key: [UInt8], destination: [UInt8])

    /// Rows for `short-links build`, which refuses most of them: destinations that lead back, that need other rules,
    /// that are long, and that are no links.
    static let forged: [Row] =
        rows([
            ("go.example/new", "shop:///p/new"), ("brand.app.link/a", "https://shop.example/p/new"),
            ("go.example/q?x=1#f", "https://shop.example/p/new?utm_source=a&count=2&utm_term=%FF#x"),
            ("go.example/", "https://go.example/"), ("go.example/1", "https://go.example/2"),
            ("go.example/2", "HTTPS://GO.example/1"), ("www.google.com/url", "https://brand.app.link/a"),
            ("go.example/w", "https://www.google.com/url?q=https%3A%2F%2Fgo.example%2F1&utm_source=w"),
            ("go.example/long", "shop:///p/" + String(repeating: "a", count: 65_000)), ("go.example/none", ""),
            ("go.example/text", "no link"), ("go.example/control", "shop:///\u{1}\u{7F}"),
        ]) + [(Array("go.example/bytes".utf8), [UInt8](repeating: 0xFF, count: 9))]

    /// Rows as an export has them.
    static let plain: [Row] = rows(
        (0..<24).map { ("go.example/\($0)", "https://shop.example/p/\($0 * 7)?utm_source=\($0)") })

    private static func rows(_ texts: [(String, String)]) -> [Row] {
        texts.map { (Array($0.0.utf8), Array($0.1.utf8)) }
    }
}
