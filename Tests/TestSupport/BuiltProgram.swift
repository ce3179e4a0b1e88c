import Foundation

/// The program that was built with these tests.
package enum BuiltProgram {
    /// The path of `linkd`: next to the test program, or in `LINKD_TEST_BINARY`.
    package static let linkd: String = {
        if let named = ProcessInfo.processInfo.environment["LINKD_TEST_BINARY"], !named.isEmpty { return named }
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        // On Linux the tests are one program in the build directory. On macOS they are in a bundle in that directory.
        var folder = tests.deletingLastPathComponent()
        while folder.pathComponents.count > 1 {
            let program = folder.appending(path: "linkd").path
            if FileManager.default.isExecutableFile(atPath: program) { return program }
            folder.deleteLastPathComponent()
        }
        return "linkd"
    }()
}
