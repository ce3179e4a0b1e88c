internal import ByteStorage
package import StrictJSON

/// The rules that unwrap the links of link platforms without a network.
///
/// It is compiled from a file and never changes, so threads share it. EventReference describes the rules.
package final class LinkPlatforms: @unchecked Sendable {
    // Unchecked because nothing is written after the initializer returns.

    /// The maximum number of times that a link is taken out of another one.
    ///
    /// A click-tracking wrapper, a short domain's long link, and the app's own link with the platform's parameters make
    /// three.
    package static let maxSteps = 3

    /// The maximum length of a link unless a table has another limit.
    package static let defaultLimit = 8192

    /// A text of the table.
    struct Piece {
        var offset: Int32 = 0
        var count: Int32 = 0
    }

    /// A host of a rule.
    struct Host {
        var name: Piece
        var isSuffix: Bool
    }

    /// The name of a parameter, or of a member of a map.
    struct Parameter {
        var name: Piece
        /// The device for which the parameter counts, or nil for all devices.
        var device: DeviceClass?
    }

    /// A condition for the path.
    enum Path {
        case any
        case exact(Piece)
        case below(Piece)
    }

    /// A rule with its ranges of the table's arrays.
    struct Rule {
        var platform: Int
        var schemes: LinkPlatformSource.Schemes
        var accepts: LinkPlatformSource.Schemes
        var isAnyHost: Bool
        var hosts: Range<Int>
        var path: Path
        var marks: Range<Int>
        var unwrap: Range<Int>
        var strip: Range<Int>
        var prefix: Piece
        var origin: Piece
        /// A Boolean value that indicates whether the rule gives the link without parts of it, or at another origin.
        var rewrites: Bool
        var result: UnwrappedLink.Kind?
    }

    /// A condition for the value of a member of a map.
    struct Condition {
        var name: Piece
        var values: Range<Int>
    }

    /// A map of an SDK with its ranges of the table's arrays.
    struct Map {
        var platform: Int
        var marks: Range<Int>
        var conditions: Range<Int>
        var links: Range<Int>
        var via: Range<Int>
        var origin: Piece
    }

    /// The source of the table.
    let source: LinkPlatformSource
    private(set) var platforms: [Piece] = []
    private(set) var rules: [Rule] = []
    private(set) var maps: [Map] = []
    private(set) var hosts: [Host] = []
    /// Marks, values, and members, and names of items to remove.
    private(set) var names: [Piece] = []
    private(set) var parameters: [Parameter] = []
    private(set) var conditions: [Condition] = []
    /// The last bytes of the hosts, as a filter.
    private(set) var endings = HostEndings()
    /// The marks of the rules for every host.
    private(set) var anyHostMarks: [Piece] = []
    private let texts: UnsafeMutableBufferPointer<UInt8>
    private var textCount = 0

    /// Compiles the rules of a file.
    ///
    /// - Parameter file: Strict JSON.
    /// - Throws: The first fault of the file.
    package convenience init(file: [UInt8]) throws(LinkPlatformProblem) {
        let value: JSONValue
        do {
            value = try JSONValue.parse(file)
        } catch {
            throw LinkPlatformProblem(pointer: "", text: "at byte \(error.offset): \(error.text)")
        }
        let reader = LinkPlatformReader(value)
        if let problem = reader.problems.first { throw problem }
        self.init(reader.source)
    }

    /// Returns all faults of a file, including examples that do not hold.
    package static func problems(in value: JSONValue) -> [LinkPlatformProblem] {
        let reader = LinkPlatformReader(value)
        if !reader.problems.isEmpty { return reader.problems }
        return LinkPlatforms(reader.source).failedExamples()
    }

    init(_ source: LinkPlatformSource) {
        self.source = source
        let all = source.texts
        texts = .allocate(capacity: max(1, all.reduce(0) { $0 + $1.utf8.count }))
        for platform in source.platforms {
            let number = platforms.count
            platforms.append(piece(platform.id))
            for rule in platform.rules { add(rule, of: number) }
            for map in platform.maps { add(map, of: number) }
        }
        for rule in rules where rule.isAnyHost { anyHostMarks += names[rule.marks] }
        endings = HostEndings(hosts.map { view($0.name) })
    }

    deinit { texts.deallocate() }

    private func add(_ rule: LinkPlatformSource.Rule, of platform: Int) {
        let path: Path =
            switch rule.path {
            case .any: .any
            case .exact(let path): .exact(piece(path))
            case .below(let path): .below(piece(path))
            }
        let isAnyHost = rule.hosts.contains { $0.name.isEmpty }
        let firstHost = hosts.count
        if !isAnyHost { hosts += rule.hosts.map { Host(name: piece($0.name), isSuffix: $0.isSuffix) } }
        rules.append(
            Rule(
                platform: platform, schemes: rule.schemes, accepts: rule.accepts, isAnyHost: isAnyHost,
                hosts: firstHost..<hosts.count, path: path, marks: add(rule.marks), unwrap: add(rule.unwrap),
                strip: add(rule.strip), prefix: piece(rule.prefix), origin: piece(rule.origin),
                rewrites: rule.result == nil && (rule.strips || !rule.origin.isEmpty), result: rule.result))
    }

    private func add(_ map: LinkPlatformSource.Map, of platform: Int) {
        let firstCondition = conditions.count
        for (name, values) in map.when { conditions.append(Condition(name: piece(name), values: add(values))) }
        maps.append(
            Map(
                platform: platform, marks: add(map.marks), conditions: firstCondition..<conditions.count,
                links: add(map.links), via: add(map.via.map { LinkPlatformSource.Parameter(name: $0, device: nil) }),
                origin: piece(map.origin)))
    }

    private func add(_ added: [String]) -> Range<Int> {
        let first = names.count
        names += added.map(piece)
        return first..<names.count
    }

    private func add(_ added: [LinkPlatformSource.Parameter]) -> Range<Int> {
        let first = parameters.count
        parameters += added.map { Parameter(name: piece($0.name), device: $0.device) }
        return first..<parameters.count
    }

    /// Copies a text into the memory of the table.
    private func piece(_ text: String) -> Piece {
        let start = textCount
        for byte in text.utf8 {
            texts[textCount] = byte
            textCount += 1
        }
        return Piece(offset: Int32(start), count: Int32(textCount - start))
    }

    /// The bytes of a text of the table, valid as long as the table.
    func view(_ piece: Piece) -> ByteView {
        guard let base = texts.baseAddress, piece.count > 0 else { return .empty }
        return ByteView(start: UnsafePointer(base) + Int(piece.offset), count: Int(piece.count))
    }
}

extension LinkPlatformSource {
    /// The texts that a compiled table copies.
    fileprivate var texts: [String] {
        platforms.flatMap { platform in
            [platform.id] + platform.rules.flatMap(\.texts) + platform.maps.flatMap(\.texts)
        }
    }
}

extension LinkPlatformSource.Rule {
    fileprivate var texts: [String] {
        var all = hosts.map(\.name) + marks + unwrap.map(\.name) + strip + [prefix, origin]
        switch path {
        case .any: break
        case .exact(let path), .below(let path): all.append(path)
        }
        return all
    }
}

extension LinkPlatformSource.Map {
    fileprivate var texts: [String] {
        marks + when.flatMap { [$0.name] + $0.values } + links.map(\.name) + via + [origin]
    }
}
