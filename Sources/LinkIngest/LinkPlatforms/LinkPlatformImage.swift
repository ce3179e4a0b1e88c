internal import LinkCoordinator
internal import ByteStorage

/// The compiled form of a file of link platforms.
///
/// All parts are in memory that the table owns, so that a look-up does not count references.
struct LinkPlatformImage: BitwiseCopyable {
    /// The ids of the platforms.
    var platforms: UnsafeBufferPointer<ByteView>
    /// The rules of all platforms, in order.
    var rules: UnsafeBufferPointer<Rule>
    /// The parameters with links, by number.
    var parameters: UnsafeBufferPointer<Parameter>
    /// The marks of the rules for every host.
    var anyHostMarks: UnsafeBufferPointer<ByteView>
    /// The bytes with which the names of these marks begin, as they can be written.
    var markStarts: ByteSet
    /// The last bytes of the hosts.
    var endings: HostEndings

    /// A host of a rule.
    struct Host: BitwiseCopyable {
        var name: ByteView
        var isSuffix: Bool
    }

    /// The name of a parameter.
    struct Parameter: BitwiseCopyable {
        var name: ByteView
        /// The number among all parameters of the table.
        var number: Int
        /// The device for which the parameter counts, or nil for all devices.
        var device: DeviceClass?
    }

    /// A name of items to remove.
    struct Strip: BitwiseCopyable {
        var name: ByteView
        /// A Boolean value that indicates whether all names that begin with this one are meant.
        var isPrefix: Bool
    }

    /// A condition for the path.
    enum Path: BitwiseCopyable {
        case any
        case exact(ByteView)
        case below(ByteView)
    }

    /// A rule.
    struct Rule: BitwiseCopyable {
        var platform: Int
        var schemes: LinkPlatformSource.Schemes
        var accepts: LinkPlatformSource.Schemes
        var isAnyHost: Bool
        var hosts: UnsafeBufferPointer<Host>
        var path: Path
        var marks: UnsafeBufferPointer<ByteView>
        var unwrap: UnsafeBufferPointer<Parameter>
        var strip: UnsafeBufferPointer<Strip>
        var prefix: ByteView
        var origin: ByteView
        /// A Boolean value that indicates whether the rule gives the link without parts of it, or at another origin.
        var rewrites: Bool
        var result: UnwrappedLink.Kind?
    }
}

/// Compiles a file of link platforms.
struct LinkPlatformCompiler {
    /// The memory of the image.
    let memory = TableStorage()
    private var parameters: [LinkPlatformImage.Parameter] = []

    mutating func compile(_ source: LinkPlatformSource) -> LinkPlatformImage {
        var rules: [LinkPlatformImage.Rule] = []
        for (number, platform) in source.platforms.enumerated() {
            for rule in platform.rules { rules.append(compile(rule, number)) }
        }
        let marks = rules.filter(\.isAnyHost).flatMap { Array($0.marks) }
        var starts = ByteSet()
        for mark in marks { starts.insert(mark[0]) }
        if !marks.isEmpty { starts.insert(UInt8(ascii: "%")) }
        return LinkPlatformImage(
            platforms: views(source.platforms.map(\.id)), rules: memory.store(rules),
            parameters: memory.store(parameters), anyHostMarks: memory.store(marks), markStarts: starts,
            endings: HostEndings(rules.flatMap { $0.hosts.map(\.name) }))
    }

    private mutating func compile(_ rule: LinkPlatformSource.Rule, _ platform: Int) -> LinkPlatformImage.Rule {
        let path: LinkPlatformImage.Path =
            switch rule.path {
            case .any: .any
            case .exact(let path): .exact(view(path))
            case .below(let path): .below(view(path))
            }
        let isAnyHost = rule.hosts.contains { $0.name.isEmpty }
        let hosts = rule.hosts.map { LinkPlatformImage.Host(name: view($0.name), isSuffix: $0.isSuffix) }
        let strip = rule.strip.map { name in
            let isPrefix = name.count > 1 && name.hasSuffix("*")
            return LinkPlatformImage.Strip(name: view(isPrefix ? String(name.dropLast()) : name), isPrefix: isPrefix)
        }
        return LinkPlatformImage.Rule(
            platform: platform, schemes: rule.schemes, accepts: rule.accepts, isAnyHost: isAnyHost,
            hosts: memory.store(isAnyHost ? [] : hosts), path: path, marks: views(rule.marks),
            unwrap: add(rule.unwrap), strip: memory.store(strip), prefix: view(rule.prefix),
            origin: view(rule.origin), rewrites: rule.result == nil && (rule.strips || !rule.origin.isEmpty),
            result: rule.result)
    }

    private mutating func add(
        _ added: [LinkPlatformSource.Parameter]
    ) -> UnsafeBufferPointer<LinkPlatformImage.Parameter> {
        let first = parameters.count
        for parameter in added {
            parameters.append(
                LinkPlatformImage.Parameter(
                    name: view(parameter.name), number: parameters.count, device: parameter.device))
        }
        return memory.store(Array(parameters[first...]))
    }

    private func views(_ texts: [String]) -> UnsafeBufferPointer<ByteView> { memory.store(texts.map(view)) }

    private func view(_ text: String) -> ByteView { ByteView(memory.store(Array(text.utf8))) }
}
