/// The version of the product, which `--version`, log lines, dead letters, and reports print.
package enum LinkdVersion {
    /// The semantic version.
    package static let text = "0.1.0"
}
