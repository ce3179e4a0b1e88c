internal import StrictJSON

/// The `linking` object of React Navigation, as JSON.
///
/// The paths are the same as in `getStateFromPath`: the path of a screen follows the path of its parent, unless it is
/// exact.
struct NavigationFile {
    /// A segment of a path.
    enum Segment: Hashable {
        case literal(String)
        /// `:name`, with the regular expression that follows it, or nil.
        case parameter(String, expression: String?, isOptional: Bool)
        /// `*`: at least one segment.
        case wildcard
        /// A segment that is not one of React Navigation, or only of some of its versions, as written.
        case unknown(String)
    }

    /// A path that leads to a screen.
    struct Path {
        /// The names of the navigators, from the outermost, and of the screen.
        var names: [String]
        var segments: [Segment]
        /// The path as written, without the paths of its parents.
        var text: String
        var place: AssociationProblem.Place
        /// A Boolean value that indicates whether a remark says that the table leaves the path out.
        var isLeftOut = false
    }

    /// The texts before the paths, such as `https://app.example`.
    private(set) var prefixes: [(text: String, place: AssociationProblem.Place)] = []
    /// The paths, in the order of the file.
    private(set) var paths: [Path] = []
    /// The names of the screens of each navigator, in the order of the file.
    private(set) var children: [[String]: [String]] = [:]
    /// The initial screen of each navigator that states one.
    private(set) var initials: [[String]: String] = [:]
    private(set) var notes: [ImportNote] = []

    private var screens = 0
    private let places: JSONPlaces

    /// Reads an object with `prefixes` and `config`.
    init(_ json: [UInt8]) throws(AssociationProblem) {
        let root = try AssociationJSON.read(json)
        places = JSONPlaces(json)
        guard let list = root["prefixes"] else {
            throw places.error(
                "expected the member `prefixes`, an array of texts such as `https://app.example`", root, "")
        }
        guard let texts = list.array?.map({ ($0.string, $0) }), texts.allSatisfy({ $0.0 != nil }) else {
            throw places.error("expected an array of strings", list, "/prefixes")
        }
        guard texts.count <= TableDraft.maxPatterns else {
            throw AssociationProblem(.error, .limit, "the file has more than \(TableDraft.maxPatterns) prefixes")
        }
        for (index, (text, value)) in texts.enumerated() {
            prefixes.append((text ?? "", places.place(value, "/prefixes/\(index)")))
        }
        guard let config = root["config"], config.object != nil, config["screens"]?.object != nil else {
            throw places.error("expected the member `config`, an object with `screens`", root, "")
        }
        try read(config, names: [], parent: [], "/config")
    }

    /// Reads the screens of a navigator.
    private mutating func read(
        _ navigator: JSONValue, names: [String], parent: [Segment], _ pointer: String
    ) throws(AssociationProblem) {
        guard let screens = navigator["screens"] else { return }
        guard let members = screens.object else {
            throw places.error("expected an object", screens, pointer + "/screens")
        }
        children[names] = members.map(\.name)
        if let initial = navigator["initialRouteName"]?.string {
            if members.contains(where: { $0.name == initial }) {
                initials[names] = initial
            } else {
                note(
                    .unknown, "the screen `\(initial)`, which `screens` does not have, so it is not shown below",
                    navigator, pointer)
            }
        }
        for member in members {
            let own = pointer + "/screens" + JSONLocation.step(member.name)
            try read(member.value, names + [member.name], parent, own)
        }
    }

    private mutating func read(
        _ screen: JSONValue, _ names: [String], _ parent: [Segment], _ pointer: String
    ) throws(AssociationProblem) {
        screens += 1
        if screens > AssociationLimits.maxComponents {
            throw AssociationProblem(
                .error, .limit, "the file has more than \(AssociationLimits.maxComponents) screens")
        }
        if let text = screen.string { return add(text, isExact: false, names, parent, screen, pointer) }
        guard screen.object != nil else { throw places.error("expected a path or an object", screen, pointer) }
        var base = parent
        if let path = screen["path"]?.string {
            let isExact = screen["exact"].map(Self.isTrue) ?? false
            add(path, isExact: isExact, names, parent, screen["path"] ?? screen, pointer + "/path")
            base = (isExact ? [] : parent) + Self.segments(path)
            for (index, alias) in (screen["alias"]?.array ?? []).enumerated() {
                let own = pointer + "/alias/\(index)"
                let isExact = alias["exact"].map(Self.isTrue) ?? false
                guard let text = alias.string ?? alias["path"]?.string else {
                    throw places.error("expected a path or an object with `path`", alias, own)
                }
                add(text, isExact: isExact, names, parent, alias, own)
            }
        } else if screen["exact"].map(Self.isTrue) ?? screen["alias"].map({ _ in true }) ?? false {
            note(.leavesOut, "a screen with `exact` or `alias` needs a path", screen, pointer)
        }
        for key in ["parse", "stringify"] where screen[key] != nil {
            note(.unknown, "the code of `\(key)`: parameters are texts", screen, pointer)
        }
        try read(screen, names: names, parent: base, pointer)
    }

    private mutating func add(
        _ text: String, isExact: Bool, _ names: [String], _ parent: [Segment], _ value: JSONValue, _ pointer: String
    ) {
        let segments = (isExact ? [] : parent) + Self.segments(text)
        let parameters = segments.compactMap { if case .parameter(let name, _, _) = $0 { name } else { nil } }
        // The text is only the screen's own path, so it can be empty for a screen inside of others with paths.
        var path = Path(names: names, segments: segments, text: text, place: places.place(value, pointer))
        if segments.contains(where: { if case .unknown = $0 { true } else { false } }) {
            note(.leavesOut, "the path `\(text)`, which is not one of React Navigation", value, pointer)
            path.isLeftOut = true
        } else if segments.count > 64 || Set(parameters).count < parameters.count {
            note(.leavesOut, "the path `\(text)`, which has a parameter twice or too many segments", value, pointer)
            path.isLeftOut = true
        }
        paths.append(path)
    }

    private static func isTrue(_ value: JSONValue) -> Bool { if case .bool(true) = value.kind { true } else { false } }

    /// Returns the segments of a path.
    static func segments(_ text: String) -> [Segment] {
        var segments: [Segment] = []
        var rest = text[...]
        while !rest.isEmpty {
            var depth = 0
            var isEscaped = false
            let end = rest.firstIndex { character in
                defer { isEscaped = character == "\\" && !isEscaped }
                if isEscaped { return false }
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return character == "/" && depth <= 0
            }
            let own = rest[..<(end ?? rest.endIndex)]
            rest = end.map { rest[rest.index(after: $0)...] } ?? ""
            if own.isEmpty { continue }
            let known = depth != 0 && end == nil ? nil : segment(own)
            segments.append(known ?? .unknown(String(own)))
        }
        return segments
    }

    private static func segment(_ text: Substring) -> Segment? {
        if text == "*" { return .wildcard }
        guard text.first == ":" else {
            return text.contains(where: { ":()?".contains($0) }) ? nil : .literal(LinkPieces.decoded(String(text)))
        }
        let isOptional = text.hasSuffix("?")
        let own = isOptional ? text.dropLast() : text
        guard let open = own.firstIndex(of: "(") else {
            let name = own.dropFirst()
            // A repeated parameter, as `:path+`, is one of newer versions.
            if name.isEmpty || name.contains(where: { ":)?*+".contains($0) }) { return nil }
            return .parameter(String(name), expression: nil, isOptional: isOptional)
        }
        guard own.last == ")", open > own.index(after: own.startIndex) else { return nil }
        let name = own[own.index(after: own.startIndex)..<open]
        let expression = own[own.index(after: open)...].dropLast()
        return .parameter(String(name), expression: String(expression), isOptional: isOptional)
    }

    // MARK: Problems

    private mutating func note(_ kind: ImportNote.Kind, _ message: String, _ value: JSONValue, _ pointer: String) {
        notes.append(ImportNote(kind, message, at: places.place(value, pointer)))
    }
}
