/// The one place that says which version this is: `--version`, log lines, dead letters and reports repeat it.
package enum LinkdVersion {
    /// Semantic version of the product.
    package static let text = "0.1.0"
}
