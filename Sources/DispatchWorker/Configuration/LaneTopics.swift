internal import ByteStorage
internal import CLibrary
package import LinkDecider

/// The topics of a lane.
package struct LaneTopics: Sendable, Equatable {
    /// The topics of decisions.
    package var outputs: OutputTopics
    /// The name of an input's dead-letter topic, with `{input}` in place of the input's name.
    package var deadLetterTemplate: String
    /// The inputs that are known before any assignment.
    ///
    /// Empty for a regular expression.
    package var inputs: [String]
    /// The topics of the registry of devices and of the archive of configurations, if the worker has them.
    package var others: [String]

    /// Creates the topics of a configuration.
    package init(_ configuration: WorkerConfiguration) {
        outputs = configuration.outputs
        deadLetterTemplate = configuration.deadLetterTemplate
        others = [configuration.devicesTopic, configuration.tablesTopic].compactMap(\.self)
        if case .topics(let topics) = configuration.input { inputs = topics } else { inputs = [] }
    }

    /// Creates the topics of a worker whose input is a regular expression.
    package init(outputs: OutputTopics, deadLetterTemplate: String, others: [String] = []) {
        self.others = others
        self.outputs = outputs
        self.deadLetterTemplate = deadLetterTemplate
        inputs = []
    }

    /// The topics that are known before any assignment: the outputs, then the inputs and their dead-letter topics.
    package var known: [String] {
        (outputs.names + inputs + inputs.map(deadLetterTopic)).unique
    }

    /// Regular expressions of the topics that a worker, a replay, or a recall writes, and of `others`.
    ///
    /// A regular expression as input never matches them.
    package var ownPatterns: [String] {
        let deadLetters = Self.escaped(deadLetterTemplate).replacing("\\{input\\}", with: ".*")
        return outputs.names.map { "^\(Self.escaped($0))(\\.recalled)?$" } + others.map { "^\(Self.escaped($0))$" }
            + ["^\(deadLetters)(\\.replayed|\\.parked)?$"]
    }

    /// Returns the names that a regular expression as input matches, without the topics of `ownPatterns`.
    package func inputs(matching pattern: borrowing PosixPattern, among names: [String]) -> [String] {
        guard let own = PosixPattern(ownPatterns.joined(separator: "|")) else { return [] }
        return names.filter { pattern.matches($0) && !own.matches($0) }
    }

    /// Returns the name with the special characters of POSIX extended regular expressions escaped.
    private static func escaped(_ name: String) -> String {
        var result = ""
        for character in name {
            if ".[]{}()*+?^$|\\".contains(character) { result.append("\\") }
            result.append(character)
        }
        return result
    }

    /// Returns the dead-letter topic of an input.
    package func deadLetterTopic(of input: String) -> String {
        deadLetterTemplate.replacing("{input}", with: input)
    }
}

/// A POSIX extended regular expression, the kind that librdkafka uses for topic names.
package struct PosixPattern: ~Copyable {
    private let compiled: UnsafeMutablePointer<regex_t>

    /// Compiles an expression.
    ///
    /// Returns nil if it is invalid.
    package init?(_ pattern: String) {
        let compiled = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
        compiled.initialize(to: regex_t())
        guard regcomp(compiled, pattern, REG_EXTENDED | REG_NOSUB) == 0 else {
            compiled.deallocate()
            return nil
        }
        self.compiled = compiled
    }

    deinit {
        regfree(compiled)
        compiled.deallocate()
    }

    /// Returns a Boolean value that indicates whether a name matches.
    package borrowing func matches(_ name: String) -> Bool { regexec(compiled, name, 0, nil, 0) == 0 }
}
