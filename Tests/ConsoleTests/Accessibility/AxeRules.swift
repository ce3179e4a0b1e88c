import Foundation
import TestSupport

/// The rules of axe-core, if they were downloaded beside the build: `config/run tests` does it.
///
/// They are not part of this repository.
struct AxeRules {
    let tab: Tab

    /// The script of axe-core, or nil.
    static let script: String? = {
        let named = ProcessInfo.processInfo.environment["LINKD_TEST_AXE"]
        let file = named ?? Checkout.root.appending(path: ".build/axe/axe_playwright_python/axe.min.js").path
        return try? String(contentsOfFile: file, encoding: .utf8)
    }()

    /// Returns the serious and critical violations, each as a line.
    func violations() throws -> [String] {
        // The policy of the page does not apply to scripts of the driver. The tags name the levels A and AA of WCAG.
        let _: JSON = try tab.run("if (!window.axe) { \(Self.script ?? "") } return null")
        return try tab.runAsync(
            """
            const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
            const result = await axe.run(document, { runOnly: tags, resultTypes: ["violations"] });
            const line = (text) => text.replace(/\\s+/g, " ");
            return result.violations.filter(v => ["serious", "critical"].includes(v.impact)).flatMap(v =>
                v.nodes.slice(0, 4).map(n => `${v.id}: ${n.target.join(" ")}: ${line(n.failureSummary)}`));
            """)
    }
}
