// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// `config/run tests` builds the modules in which the tests spend most of their time with optimization, and keeps their
// assertions. SwiftPM refuses such flags in a dependency, so they are not set elsewhere.
let optimized: [SwiftSetting] =
    Context.environment["LINKD_TEST_OPTIMIZED"] == "1"
    ? strict + [
        .unsafeFlags(
            [
                "-O", "-wmo", "-num-threads", "2", "-emit-module-separately-wmo", "-disable-batch-mode",
                "-assert-config", "Debug",
            ],
            .when(configuration: .debug))
    ] : strict

let package = Package(
    name: "link-dispatcher",
    platforms: [.macOS(.v15), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "LinkCoordinator", targets: ["LinkCoordinator"]),
        .library(name: "LinkCoordinatorFoundation", targets: ["LinkCoordinatorFoundation"]),
        .library(name: "RouteAnalysis", targets: ["RouteAnalysis"]),
        .library(name: "LinkIngest", targets: ["LinkIngest"]),
        .executable(name: "linkd", targets: ["linkd"]),
    ],
    targets: [
        // The C library of the platform under one name.
        .target(name: "CLibrary", swiftSettings: strict),
        .target(name: "CWideBytes", cSettings: [.treatAllWarnings(as: .error)]),
        .target(name: "ByteStorage", dependencies: ["CWideBytes"], swiftSettings: optimized),
        .target(name: "StrictJSON", dependencies: ["ByteStorage"], swiftSettings: optimized),
        .target(name: "LinkCoordinator", dependencies: ["ByteStorage", "StrictJSON"], swiftSettings: optimized),
        // Types of Foundation for apps. The program does not link it.
        .target(
            name: "LinkCoordinatorFoundation", dependencies: ["LinkCoordinator", "ByteStorage"], swiftSettings: strict),
        .target(
            name: "RouteAnalysis", dependencies: ["LinkCoordinator", "ByteStorage", "StrictJSON"],
            swiftSettings: optimized),
        // The file of short links and their destinations.
        .target(
            name: "ShortLinks", dependencies: ["LinkCoordinator", "ByteStorage", "CLibrary", "CWideBytes"],
            swiftSettings: strict),
        .target(
            name: "LinkIngest", dependencies: ["LinkCoordinator", "ShortLinks", "ByteStorage", "StrictJSON"],
            swiftSettings: optimized),
        // The one place where a record and a configuration become decisions or a dead letter.
        .target(
            name: "LinkDecider",
            dependencies: ["LinkCoordinator", "LinkIngest", "ShortLinks", "ByteStorage", "StrictJSON", "CLibrary"],
            swiftSettings: optimized),
        .target(
            name: "RouteTools", dependencies: ["RouteAnalysis", "LinkCoordinator", "ByteStorage", "StrictJSON"],
            swiftSettings: optimized),
        .systemLibrary(
            name: "CRdKafka",
            pkgConfig: "rdkafka",
            providers: [.apt(["librdkafka-dev"]), .brew(["librdkafka"])]),
        .target(name: "CPlatform", cSettings: [.treatAllWarnings(as: .error)]),
        // Threads that can block, and what they wait on.
        .target(name: "SystemThreads", dependencies: ["CLibrary", "CPlatform"], swiftSettings: strict),
        .systemLibrary(
            name: "CMicroHTTPD",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .target(
            name: "HTTPServer", dependencies: ["CMicroHTTPD", "SystemThreads", "ByteStorage", "CLibrary", "CPlatform"],
            swiftSettings: strict),
        .systemLibrary(
            name: "CLMDB",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        // The local copy of the registry of devices, on disk.
        .target(
            name: "DeviceRegistry", dependencies: ["CLMDB", "ByteStorage", "CLibrary", "CPlatform", "CWideBytes"],
            swiftSettings: optimized),
        // The index of decisions that the console searches.
        .target(name: "DecisionIndex", dependencies: ["ByteStorage"], swiftSettings: strict),
        .target(
            name: "KafkaClient",
            dependencies: ["CRdKafka", "SystemThreads", "CLibrary", "CPlatform", "CWideBytes", "ByteStorage"],
            swiftSettings: strict),
        .target(
            name: "DispatchWorker",
            dependencies: [
                "LinkCoordinator", "LinkIngest", "LinkDecider", "KafkaClient", "DeviceRegistry", "ShortLinks",
                "ByteStorage", "StrictJSON", "SystemThreads", "CLibrary", "CPlatform",
            ],
            swiftSettings: optimized),
        .target(
            name: "LinkdCommands",
            dependencies: [
                "LinkCoordinator", "RouteAnalysis", "RouteTools", "LinkIngest", "LinkDecider", "KafkaClient",
                "DispatchWorker",
                "DeviceRegistry",
                "ShortLinks",
                "ByteStorage",
                "StrictJSON",
                "SystemThreads",
                "HTTPServer",
                "CLibrary",
                "CPlatform",
                "DecisionIndex",
            ],
            swiftSettings: strict),
        .executableTarget(name: "linkd", dependencies: ["LinkdCommands"], swiftSettings: strict),
        // The fuzz tests of the modules. `config/run fuzz`, the benchmarks, and LinkdFuzzTests run them.
        .target(
            name: "LinkdFuzz",
            dependencies: [
                "LinkCoordinator", "RouteAnalysis", "RouteTools", "LinkIngest", "LinkDecider", "KafkaClient",
                "DispatchWorker", "ShortLinks", "ByteStorage", "StrictJSON", "CLibrary",
            ],
            swiftSettings: optimized),
        .executableTarget(
            name: "LinkdBenchmarks",
            dependencies: [
                "LinkCoordinator", "RouteAnalysis", "LinkIngest", "LinkDecider", "KafkaClient", "DispatchWorker",
                "DeviceRegistry", "CLMDB", "ShortLinks", "LinkdFuzz", "ByteStorage", "StrictJSON", "CPlatform",
                "CAllocationCount", "TestSupport",
            ],
            swiftSettings: strict),
        // It replaces `malloc` in the program that links it.
        .target(name: "CAllocationCount", cSettings: [.treatAllWarnings(as: .error)]),
        .target(
            name: "TestSupport", dependencies: ["ByteStorage", "StrictJSON"], path: "Tests/TestSupport",
            swiftSettings: optimized),
        // Table files and checks that tests of several modules use.
        .target(
            name: "TableSupport",
            dependencies: ["LinkCoordinator", "RouteAnalysis", "ByteStorage", "StrictJSON", "TestSupport"],
            path: "Tests/TableSupport", swiftSettings: strict),
        .testTarget(
            name: "ByteStorageTests", dependencies: ["ByteStorage", "CWideBytes", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "StrictJSONTests", dependencies: ["ByteStorage", "StrictJSON", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "LinkCoordinatorTests",
            dependencies: [
                "LinkCoordinator", "RouteAnalysis", "ByteStorage", "StrictJSON", "TableSupport", "TestSupport",
            ],
            exclude: ["Fixtures"],
            swiftSettings: strict),
        // Generated files that are compiled against the library, with the isolation of new app projects.
        .testTarget(
            name: "GeneratedSwiftTests",
            dependencies: ["LinkCoordinator", "LinkCoordinatorFoundation", "RouteTools", "TestSupport"],
            exclude: ["Tables"], swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "LinkCoordinatorFoundationTests",
            dependencies: ["LinkCoordinatorFoundation", "LinkCoordinator", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "RouteAnalysisTests",
            dependencies: [
                "RouteAnalysis", "LinkCoordinator", "ByteStorage", "StrictJSON", "TableSupport", "TestSupport",
            ],
            exclude: ["Fixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "RouteToolsTests",
            dependencies: [
                "RouteTools", "RouteAnalysis", "LinkCoordinator", "StrictJSON", "TableSupport", "TestSupport",
            ],
            swiftSettings: strict),
        // Laws: tests that generate tables, links, and devices. `LINKD_TEST_CASES` is the number of cases of each.
        .testTarget(
            name: "LawTests",
            dependencies: [
                "LinkCoordinator", "RouteAnalysis", "RouteTools", "ByteStorage", "StrictJSON", "TableSupport",
                "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "LinkIngestTests",
            dependencies: ["LinkIngest", "LinkCoordinator", "ByteStorage", "StrictJSON", "TestSupport"],
            exclude: ["Fixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "ShortLinksTests", dependencies: ["ShortLinks", "ByteStorage", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "LinkDeciderTests",
            dependencies: [
                "LinkDecider", "LinkIngest", "LinkCoordinator", "ShortLinks", "ByteStorage", "StrictJSON",
                "TableSupport", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPServerTests", dependencies: ["HTTPServer", "CPlatform", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "DecisionIndexTests", dependencies: ["DecisionIndex", "ByteStorage", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DeviceRegistryTests", dependencies: ["DeviceRegistry", "ByteStorage", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "KafkaClientTests",
            dependencies: ["KafkaClient", "CRdKafka", "ByteStorage", "StrictJSON", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "DispatchWorkerTests",
            dependencies: [
                "DispatchWorker", "KafkaClient", "CRdKafka", "LinkDecider", "LinkIngest", "LinkCoordinator",
                "ByteStorage",
                "StrictJSON", "SystemThreads", "TableSupport", "TestSupport",
            ],
            exclude: ["Fixtures"], swiftSettings: optimized),
        .testTarget(
            name: "LinkdCommandsTests",
            dependencies: [
                "LinkdCommands", "DispatchWorker", "KafkaClient", "LinkDecider", "LinkIngest", "LinkCoordinator",
                "ShortLinks", "RouteAnalysis", "RouteTools", "ByteStorage", "StrictJSON", "DecisionIndex", "HTTPServer",
                "TableSupport", "TestSupport",
            ],
            exclude: ["Snapshots", "Tables"], swiftSettings: strict),
        .testTarget(
            name: "LinkdFuzzTests",
            dependencies: ["LinkdFuzz", "LinkIngest", "ByteStorage", "StrictJSON", "TestSupport"],
            exclude: ["Corpus"], swiftSettings: strict),
        // Tests of worker processes that are killed repeatedly, with a real broker.
        .testTarget(
            name: "ExactlyOnceTests",
            dependencies: [
                "linkd", "DispatchWorker", "KafkaClient", "LinkCoordinator", "LinkIngest", "LinkDecider", "LinkdFuzz",
                "DeviceRegistry", "ByteStorage", "StrictJSON", "TestSupport",
            ],
            swiftSettings: strict),
        // Tests of the console in a real browser, and of its server with raw sockets.
        .testTarget(
            name: "ConsoleTests", dependencies: ["linkd", "KafkaClient", "ByteStorage", "TestSupport"],
            swiftSettings: strict),
        .testTarget(name: "TidyTests", dependencies: ["TestSupport"], swiftSettings: strict),
        // Tests of the shipped files and of the built program.
        .testTarget(
            name: "ShippedTests",
            dependencies: [
                "linkd", "DispatchWorker", "KafkaClient", "LinkDecider", "LinkIngest", "LinkCoordinator", "ByteStorage",
                "TestSupport",
            ],
            swiftSettings: strict),
    ]
)
