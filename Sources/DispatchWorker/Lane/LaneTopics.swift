internal import KafkaClient

/// Which topics a lane writes to.
package struct LaneTopics: Sendable, Equatable {
    /// The topic of decisions.
    package var output: String
    /// Name of an input's dead-letter topic, with `{input}` for the input's name.
    package var deadLetterTemplate: String
    /// Inputs that are known before any assignment; none with a regular expression.
    package var inputs: [String]

    /// Takes the topics of a configuration.
    package init(_ configuration: WorkerConfiguration) {
        output = configuration.output
        deadLetterTemplate = configuration.deadLetterTemplate
        if case .topics(let topics) = configuration.input { inputs = topics } else { inputs = [] }
    }

    /// The dead-letter topic of an input.
    package func deadLetterTopic(of input: String) -> String {
        deadLetterTemplate.replacing("{input}", with: input)
    }
}
