import Foundation
import TestSupport
import Testing

/// The dependencies of modules.
///
/// The resolver does not depend on Kafka, the Kafka client does not depend on links, and the HTTP server depends on
/// neither. Only one module imports each C library.
@Suite struct ImportTests {
    /// A module, and the modules that its files can import.
    static let rules: [(module: String, allowed: String)] = [
        ("CLibrary", "Glibc Musl Darwin"),
        // ByteStorage needs Synchronization for leases of views in builds that check them.
        ("ByteStorage", "CWideBytes Synchronization"),
        ("StrictJSON", "ByteStorage"),
        ("LinkCoordinator", "ByteStorage StrictJSON Swift"),
        ("LinkCoordinatorFoundation", "LinkCoordinator ByteStorage Foundation"),
        ("RouteAnalysis", "LinkCoordinator ByteStorage StrictJSON"),
        ("RouteTools", "RouteAnalysis LinkCoordinator ByteStorage StrictJSON"),
        ("ShortLinks", "LinkCoordinator ByteStorage CWideBytes Synchronization CLibrary"),
        ("LinkIngest", "LinkCoordinator ShortLinks ByteStorage StrictJSON"),
        ("LinkDecider", "LinkIngest LinkCoordinator ShortLinks ByteStorage StrictJSON CLibrary"),
        ("KafkaClient", "CRdKafka SystemThreads ByteStorage CPlatform CWideBytes Synchronization CLibrary"),
        ("SystemThreads", "CPlatform CLibrary"),
        ("DecisionIndex", "ByteStorage"), ("DeviceRegistry", "CLMDB CPlatform CWideBytes ByteStorage CLibrary"),
        ("HTTPServer", "CMicroHTTPD SystemThreads ByteStorage CPlatform Synchronization CLibrary"),
        (
            "DispatchWorker",
            "LinkCoordinator LinkIngest LinkDecider KafkaClient DeviceRegistry ShortLinks ByteStorage StrictJSON "
                + "SystemThreads CPlatform Synchronization CLibrary"
        ),
        (
            "LinkdCommands",
            "LinkCoordinator RouteAnalysis RouteTools LinkIngest LinkDecider KafkaClient DispatchWorker ByteStorage "
                + "DeviceRegistry ShortLinks StrictJSON SystemThreads HTTPServer DecisionIndex CPlatform "
                + "Synchronization Foundation FoundationEssentials Dispatch CLibrary"
        ),
        ("linkd", "LinkdCommands"),
        (
            "LinkdFuzz",
            "LinkCoordinator RouteAnalysis RouteTools LinkIngest LinkDecider KafkaClient DispatchWorker ShortLinks "
                + "ByteStorage StrictJSON Foundation CLibrary"
        ),
    ]

    struct Import {
        var module: Substring
        var location: String
        /// The line before the import, which can be a condition.
        var before: Substring
    }

    static func imports(of module: String) throws -> [Import] {
        let word =
            #/^(?:@\S+ )*(?:\w+ )?import (?:(?:struct|class|enum|func|protocol) )?(\w+)/#
        return try Checkout.trackedFiles().filter {
            $0.path.hasPrefix("Sources/\(module)/") && $0.suffix == "swift"
        }.flatMap { file in
            let lines = file.lines
            return lines.indices.compactMap { index -> Import? in
                guard let match = lines[index].firstMatch(of: word) else { return nil }
                return Import(
                    module: match.1, location: "\(file.path):\(index + 1)",
                    before: index > 0 ? lines[index - 1] : "")
            }
        }
    }

    @Test("A module imports only lower modules", arguments: rules.indices)
    func imports(rule: Int) throws {
        let (module, names) = Self.rules[rule]
        let allowed = Set(names.split(separator: " "))
        let wrong = try Self.imports(of: module).filter { found in
            if allowed.contains(found.module) { return false }
            // LinkCoordinator's only use of Foundation is NFC on Apple platforms.
            let isApple = found.before.hasPrefix("#if canImport(Darwin)")
            let isLock = module == "ByteStorage" && found.module == "os"
            let isNormalization = module == "LinkCoordinator" && found.module == "Foundation"
            return !(isApple && (isLock || isNormalization))
        }
        #expect(wrong.map { "\($0.location): \($0.module)" } == [])
    }

    @Test("Every module has a rule")
    func rulesAreWhole() throws {
        let modules = try Set(
            Checkout.trackedFiles().filter { $0.path.hasPrefix("Sources/") && $0.suffix == "swift" }
                .map { String($0.path.dropFirst("Sources/".count).prefix { $0 != "/" }) })
        // Benchmarks can import all modules.
        #expect(modules.subtracting(["LinkdBenchmarks"]).subtracting(Self.rules.map(\.module)) == [])
    }

    @Test("Only the folders Native of three modules name types and pointers of C libraries")
    func noTypesOfTheLibrary() throws {
        let found = try Checkout.trackedFiles().filter { file in
            file.path.hasPrefix("Sources/") && file.suffix == "swift"
                && !Self.nativeFiles.contains { file.path.hasPrefix($0) } && Self.namesLibraryType(file.text ?? "")
        }
        #expect(found.map(\.path) == [])
    }

    /// The places that see types of a C library: the wrappers, and the benchmark that uses LMDB as its baseline.
    private static let nativeFiles = [
        "Sources/KafkaClient/Native/", "Sources/HTTPServer/Native/", "Sources/DeviceRegistry/Native/",
        "Sources/LinkdBenchmarks/RegistryBenchmark.swift",
    ]

    @Test(
        "Types and pointers of the C library are found in code, not in comments",
        arguments: [
            ("var handle: OpaquePointer?", true), ("let code = rd_kafka_resp_err_t(rawValue: 1)", true),
            ("let code: MHD_Result", true), ("/// The code, as in `MHD_Result`.", false),
            ("var client: UnsafeMutablePointer<rd_kafka_t>", true), ("rd_kafka_NewTopic_t", true),
            ("rd_kafka_assign($0, nil)", false), ("/// The number, as in `rd_kafka_resp_err_t`.", false),
            ("UnsafePointer<UInt8>", false),
        ])
    func libraryTypes(line: String, isFound: Bool) {
        #expect(Self.namesLibraryType(line) == isFound)
    }

    /// Returns a Boolean value that indicates whether code names a type of a C library or an opaque pointer.
    static func namesLibraryType(_ text: String) -> Bool {
        let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        // A literal in the closure would be compiled for each line.
        let type = /\bOpaquePointer\b|\brd_kafka(_[A-Za-z0-9]+)*_t\b|\bMHD_[A-Z][a-z]/
        return code.contains { $0.contains(type) }
    }
}
