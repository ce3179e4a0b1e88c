internal import LinkCoordinator
internal import ByteStorage
package import StrictJSON

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
        var compiler = LinkPlatformCompiler()
        image = compiler.compile(source)
        memory = compiler.memory
    }
}
