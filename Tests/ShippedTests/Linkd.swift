import Foundation
import TestSupport

/// The program that was built with these tests.
enum Linkd {
    /// Where it is: beside the tests' own program.
    static let path: String = {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        // On Linux the tests are one program in the build's folder, on macOS they are inside a bundle in it.
        var folder = tests.deletingLastPathComponent()
        while folder.pathComponents.count > 1 {
            let program = folder.appending(path: "linkd").path
            if FileManager.default.isExecutableFile(atPath: program) { return program }
            folder.deleteLastPathComponent()
        }
        return "linkd"
    }()
}
