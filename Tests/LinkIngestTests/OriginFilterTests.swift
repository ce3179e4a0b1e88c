import ByteStorage
import Testing

@testable import LinkIngest

@Suite("The filter for links without a platform")
struct OriginFilterTests {
    private static func platforms() throws -> LinkPlatforms {
        try LinkPlatforms(file: IngestFixture.shipped("link-platforms.json"))
    }

    /// The links of the fixture, and each origin with further tails.
    private static let links: [[UInt8]] = {
        let tails: [String] = [
            "", "/", "/p/42", "?", "#", "/p/42?adj_t=1", "/p/42?a=1", "/p/42?color=red&adjust_t=abc", "?adj_t=x",
            "/p/42?color=red&size=10&%61dj_t=abc", "/a/b/c/d/e/f?q=1#x&adj_t=1", "/p?x=1&adj_t", "/0123456789?&adj_t=1",
            ".app.link/x", ":443/p/42", ":8080/p/42", "@brand.app.link/p", "/" + String(repeating: "s", count: 99),
        ]
        let origins = LinkCase.all.map { link in
            Array(link.link.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        }
        let own = ["https://shop.example", "shop://p", "http://www.shop.example:80", "https://u:p@shop.example"]
        return LinkCase.all.map(\.link)
            + (origins + own.map { Array($0.utf8) }).flatMap { origin in
                tails.map { origin + Array($0.utf8) }
            }
    }()

    @Test("A link that the filter excludes has no rule, in any order of links")
    func excludesOnlyOthers() throws {
        var links = LinkUnwrapper(try Self.platforms(), keepsQueries: false)
        var excluded = 0
        for step in [1, 7, 31] {
            for index in Self.links.indices {
                let link = Self.links[index * step % Self.links.count]
                // The buffer has the exact length, so that a sanitizer finds a read beyond it.
                let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(link.count, 1))
                defer { memory.deallocate() }
                _ = memory.update(fromContentsOf: link)
                let view = ByteView(UnsafeBufferPointer(rebasing: memory[..<link.count]))
                let isExcluded = links.origins.excludes(view)
                let applies = links.applies(to: view)
                if isExcluded { excluded += 1 }
                #expect(!(isExcluded && applies), "\(String(decoding: link, as: UTF8.self))")
            }
        }
        #expect(excluded > 100)
    }

    @Test(
        "A link of an origin that was seen before is excluded unless it may have an item for every host",
        arguments: [
            ("https://shop.example/p/42", true), ("https://shop.example/p/42?color=red&size=10", true),
            ("https://shop.example/p/42?color=red&adj_t=1", false), ("https://shop.example/p/42?adj_t=1", false),
            ("https://shop.example/p/42?%61dj_t=1", false), ("https://shop.example.app.link/p/42", false),
            ("https://shop.example:8080/p/42", false), ("https://shop.example", false),
            ("https://brand.app.link/p/42", false),
        ])
    func excludesUsual(link: String, isExcluded: Bool) throws {
        var links = LinkUnwrapper(try Self.platforms(), keepsQueries: false)
        let other = Array("https://shop.example/other".utf8)
        let applies = other.withUnsafeBufferPointer { links.applies(to: ByteView($0)) }
        let found = Array(link.utf8).withUnsafeBufferPointer { links.origins.excludes(ByteView($0)) }
        #expect(!applies && found == isExcluded)
    }
}
