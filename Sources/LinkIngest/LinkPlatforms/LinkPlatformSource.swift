/// The rules of link platforms as a file has them.
struct LinkPlatformSource {
    /// A platform: its rules in order.
    struct Platform {
        var id = ""
        var rules: [Rule] = []
        var examples: [Example] = []
    }

    /// A rule: the links that it reads, and their destination.
    struct Rule {
        var schemes = Schemes.web
        var hosts: [Host] = []
        var path = Path.any
        var marks: [String] = []
        var unwrap: [Parameter] = []
        var accepts = Schemes.any
        var strip: [String] = []
        var prefix = ""
        var origin = ""
        var result: UnwrappedLink.Kind?

        /// A Boolean value that indicates whether the rule removes parts of the link.
        var strips: Bool { !strip.isEmpty || !prefix.isEmpty }
    }

    /// A link with its destination.
    struct Example {
        var link = ""
        var device = DeviceClass.unknown
        var destination: String?
        var kind = UnwrappedLink.Kind.itself
        var pointer = ""
    }

    /// The schemes of links.
    enum Schemes: String, CaseIterable, BitwiseCopyable {
        case web, custom, any

        func contains(isWeb: Bool) -> Bool { self == .any || isWeb == (self == .web) }
    }

    /// A host, or all hosts below a name.
    struct Host {
        /// The name in lowercase, or an empty text for every host.
        var name: String
        var isSuffix: Bool
    }

    /// A condition for the path.
    enum Path {
        case any
        /// The path is this one, with or without a slash at its end.
        case exact(String)
        /// The path has at least one segment below this one.
        case below(String)
    }

    /// The name of a parameter that has a link.
    struct Parameter {
        var name: String
        var device: DeviceClass?
    }

    var platforms: [Platform] = []
}

/// The platforms of devices that links distinguish.
package enum DeviceClass: String, Sendable, CaseIterable, BitwiseCopyable {
    case apple, android, web, unknown
}
