/// The description of a metric.
package struct MetricDescription: Sendable {
    /// The kind of a metric.
    package enum Kind: String, Sendable {
        /// A number that only increases while the process runs.
        case counter
        /// A number that increases and decreases.
        case gauge
        /// The distribution of values over buckets.
        case histogram
        /// Quantiles of values.
        case summary
    }

    /// The name.
    package let name: String
    /// The kind.
    package let kind: Kind
    /// The names of the labels, without `le`.
    package let labels: [String]
    /// A description for people.
    package let help: String
}
