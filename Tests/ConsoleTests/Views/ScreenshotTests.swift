import Foundation
import Testing

/// The directory that `config/run screenshots DIRECTORY` fills.
private let directory = ProcessInfo.processInfo.environment["LINKD_TEST_SCREENSHOTS"]

extension BrowserTests {
    /// Pictures of every view, dark and light, narrow and wide.
    @Suite(.enabled(if: directory != nil, "LINKD_TEST_SCREENSHOTS names no directory for the pictures"))
    struct ScreenshotTests {
        @Test("Pictures of the views without a broker are written", arguments: ShownView.offline)
        func offline(view: ShownView) throws {
            let tab = try Tab.ofTest()
            for text in view.messages { tab.expects(message: text) }
            let console = try RunningConsole.offline.get()
            try tab.enter(console)
            try Self.write(view, tab, console)
        }

        /// Writes the four pictures of a view, each of the whole page, but at most 2,400 px high.
        static func write(_ view: ShownView, _ tab: Tab, _ console: RunningConsole) throws {
            let folder = URL(fileURLWithPath: directory ?? "", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for scheme in Tab.Scheme.allCases {
                for width in [360, 1440] {
                    try tab.emulate(scheme, reducedMotion: true)
                    try tab.resize(width: width, height: 900)
                    try view.show(in: tab, console)
                    let height: Int = try tab.run(
                        "document.activeElement.blur(); return document.scrollingElement.scrollHeight")
                    try tab.resize(width: width, height: min(2400, max(900, height)))
                    try tab.awaitRest()
                    let name = "\(view.name)-\(scheme)-\(width).png"
                    try tab.screenshot().write(to: folder.appending(path: name))
                }
            }
        }
    }
}
