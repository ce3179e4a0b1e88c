import Foundation
import TestSupport
import Testing

/// The directory that `config/run screenshots DIRECTORY` fills.
private let directory = ProcessInfo.processInfo.environment["LINKD_TEST_SCREENSHOTS"]

extension BrowserTests {
    /// Pictures of every view, dark and light, narrow and wide.
    ///
    /// Without `LINKD_TEST_SCREENSHOTS`, only the pictures of one view are written, into a temporary directory.
    @Suite struct ScreenshotTests {
        @Test(
            "Pictures of the views without a broker are written",
            arguments: directory == nil ? [ShownView.offline[1]] : ShownView.offline)
        func offline(view: ShownView) throws {
            try Self.write(view, try RunningConsole.offline.get())
        }

        @Test(
            "Pictures of the views of decisions are written",
            .enabled(if: BrokerEnvironment.hasBroker, "no broker: KAFKA_BOOTSTRAP_SERVERS is not set"),
            arguments: directory == nil ? [ShownView.online[0]] : ShownView.online)
        func online(view: ShownView) throws {
            try Self.write(view, try ConsoleWorld.sampled().console)
        }

        /// Writes the four pictures of a view, each of the whole page, but at most 2,400 px high.
        static func write(_ view: ShownView, _ console: RunningConsole) throws {
            let tab = try Tab.ofTest()
            for text in view.messages { tab.expects(message: text) }
            try tab.enter(console)
            let temporary = FileManager.default.temporaryDirectory.appending(path: "pictures-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: temporary) }
            let folder = directory.map { URL(fileURLWithPath: $0, isDirectory: true) } ?? temporary
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
                    let picture = try tab.screenshot()
                    #expect(picture.count > 2000)
                    try picture.write(to: folder.appending(path: name))
                }
            }
        }
    }
}
