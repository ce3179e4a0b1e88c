/// The version of the product, which `--version`, log lines, dead letters, and reports print.
package enum LinkdVersion {
    /// The semantic version.
    package static let text = "0.1.0"
    /// The date of the version, which manual pages print.
    static let date = "2026-11-23"
}
