internal import LinkCoordinator
package import ByteStorage

/// The rules that unwrap the links of link platforms without a network.
///
/// It is compiled from a file and never changes, so threads share it. The article LinkPlatforms describes the rules.
package final class LinkPlatforms: @unchecked Sendable {
    // Unchecked because the memory of the image is written before the initializer returns, and never again.

    /// The maximum number of times that a link is taken out of another one.
    ///
    /// A click-tracking wrapper, a platform's long link, and the app's own link with the platform's parameters make
    /// three.
    package static let maxSteps = 3

    /// The maximum length of a link unless a table has another limit.
    package static let defaultLimit = 8192

    /// The maximum number of query items of a link that a rule reads, which is the largest limit of a route table.
    package static let maxQueryItems = 1024

    /// The source of the table.
    let source: LinkPlatformSource
    /// The compiled form.
    let image: LinkPlatformImage
    private let memory: TableStorage

    init(_ source: LinkPlatformSource) {
        self.source = source
        var compiler = LinkPlatformCompiler()
        image = compiler.compile(source)
        memory = compiler.memory
    }

    /// Returns the id of the platform whose rule was applied at a step, in `0 ..< link.stepCount`.
    ///
    /// The view is valid as long as the table.
    package func platform(of link: UnwrappedLink, step: Int) -> ByteView {
        image.platforms[Int(link.platforms[step])]
    }

    /// Returns the name of the parameter from which a step took the link, or nil if it took none.
    ///
    /// The view is valid as long as the table.
    package func parameter(of link: UnwrappedLink, step: Int) -> ByteView? {
        let number = Int(link.parameters[step])
        return number < 0 ? nil : image.parameters[number].name
    }
}
