import Foundation

/// The program that was built with these tests.
package enum BuiltProgram {
    /// Where `linkd` is: beside the tests' own program, unless `LINKD_TEST_BINARY` names another one.
    package static let linkd: String = {
        if let named = ProcessInfo.processInfo.environment["LINKD_TEST_BINARY"], !named.isEmpty { return named }
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
