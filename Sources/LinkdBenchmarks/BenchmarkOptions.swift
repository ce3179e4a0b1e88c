internal import Foundation

/// An error that ends the program.
struct BenchmarkError: Error {
    var text: String
    var code: Int32 = 69
}

/// The options of the command line.
struct BenchmarkOptions {
    private var named: Set<String> = []
    var peers: String?
    var broker = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"]
    var workload: String?
    var table = "config/routes/shop.json"
    var vendors = "config/vendors.json"
    var platforms = "config/link-platforms.json"
    var records = 300_000
    var rounds = 7
    var json = false
    var seconds = 60
    var seed: UInt64 = 1
    var batch: Int?
    var replay: String?
    var output = "."
    var linkd: String?
    var routes = 10_000
    var rate = 1_000
    let requests = 40

    static let kinds = ["record", "push", "lookup", "load", "worker", "monitor"]

    init(_ arguments: [String]) throws {
        var index = 0
        func value() throws -> String {
            index += 1
            guard index < arguments.count else {
                throw BenchmarkError(text: "\(arguments[index - 1]) needs a value, see --help", code: 64)
            }
            return arguments[index]
        }
        func number() throws -> Int {
            guard let number = Int(try value()), number > 0 else {
                throw BenchmarkError(text: "\(arguments[index - 1]) needs a number above 0, see --help", code: 64)
            }
            return number
        }
        while index < arguments.count {
            switch arguments[index] {
            case "--peers": peers = try value()
            case "--broker": broker = try value()
            case "--workload": workload = try value()
            case "--table": table = try value()
            case "--records": records = try number()
            case "--rounds": rounds = try number()
            case "--seconds": seconds = try number()
            case "--seed": seed = UInt64(try number())
            case "--batch": batch = try number() - 1
            case "--replay": replay = try value()
            case "--output": output = try value()
            case "--linkd": linkd = try value()
            case "--routes": routes = try number()
            case "--rate": rate = try number()
            case "--json": json = true
            case let kind where Self.kinds.contains(kind): named.insert(kind)
            case let other: throw BenchmarkError(text: "unknown argument \(other), see --help", code: 64)
            }
            index += 1
        }
        for kind in ["lookup", "worker"] where named.contains(kind) && peers == nil {
            throw BenchmarkError(text: "\(kind) needs --peers DIR", code: 64)
        }
        if let name = ["worker", "monitor"].first(where: named.contains), broker == nil {
            throw BenchmarkError(text: "\(name) needs --broker HOST:PORT or KAFKA_BOOTSTRAP_SERVERS", code: 64)
        }
    }

    /// Returns whether to run a benchmark: it is selected, or none is selected and its requirements are met.
    func runs(_ kind: String) -> Bool {
        if !named.isEmpty { return named.contains(kind) }
        switch kind {
        case "lookup": return peers != nil
        case "worker": return peers != nil && broker != nil
        case "monitor": return broker != nil
        default: return true
        }
    }

    /// Returns the path of a peer's program, or nil if it does not exist.
    func peer(_ name: String) -> String? {
        guard let path = peers.map({ "\($0)/\(name)" }) else { return nil }
        return FileManager.default.fileExists(atPath: path) ? path : nil
    }
}
