internal import KafkaClient

/// The topics of a lane.
package struct LaneTopics: Sendable, Equatable {
    /// The topic of decisions.
    package var output: String
    /// The name of an input's dead-letter topic, with `{input}` in place of the input's name.
    package var deadLetterTemplate: String
    /// The inputs that are known before any assignment.
    ///
    /// Empty for a regular expression.
    package var inputs: [String]

    /// Creates the topics of a configuration.
    package init(_ configuration: WorkerConfiguration) {
        output = configuration.output
        deadLetterTemplate = configuration.deadLetterTemplate
        if case .topics(let topics) = configuration.input { inputs = topics } else { inputs = [] }
    }

    /// Returns the dead-letter topic of an input.
    package func deadLetterTopic(of input: String) -> String {
        deadLetterTemplate.replacing("{input}", with: input)
    }
}
