/// A pattern of an apple-app-site-association file, parsed.
///
/// `*` stands for any number of characters, `?` for one character, and `$(name)` for one value of a list. A pattern
/// matches a whole component of a URL. There are no escapes.
struct ApplePatternText {
    /// A part of a pattern.
    enum Part: Hashable {
        /// Any number of characters.
        case star
        /// One character.
        case one
        /// A character.
        case literal(Unicode.Scalar)
        /// The name of a substitution variable.
        case variable(String)
    }

    /// The pattern as written.
    let text: String
    /// The parts in order, without two consecutive stars.
    private(set) var parts: [Part] = []

    /// Parses a pattern, with `$(` without a `)` as literal text.
    init(_ text: String) {
        self.text = text
        var rest = Substring(text).unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": if parts.last != .star { parts.append(.star) }
            case "?": parts.append(.one)
            case "$" where rest.first == "(":
                guard let close = rest.firstIndex(of: ")") else {
                    parts.append(.literal(scalar))
                    continue
                }
                parts.append(.variable(String(Substring(rest[..<close].dropFirst()))))
                rest = rest[rest.index(after: close)...]
            default: parts.append(.literal(scalar))
            }
        }
    }

    /// The names of the variables.
    var names: [String] { parts.compactMap { if case .variable(let name) = $0 { name } else { nil } } }

    /// Returns the forms of a pattern of a path.
    ///
    /// A leading slash is optional, several are one, and slashes at the end are insignificant. A pattern that ends with
    /// `/*` also matches the path before it.
    static func pathForms(_ pattern: String) -> [String] {
        let form = "/" + trimmed(pattern.drop { $0 == "/" })
        guard form.hasSuffix("/*") else { return [form] }
        return [form, "/" + trimmed(form.dropLast(2).dropFirst())]
    }

    /// Returns a path without the slashes at its end, except for the root.
    static func path(_ path: String) -> String {
        let cut = trimmed(path[...])
        return cut.isEmpty ? "/" : cut
    }

    private static func trimmed(_ text: Substring) -> String {
        var rest = text
        while rest.hasSuffix("/") { rest = rest.dropLast() }
        return String(rest)
    }
}

/// The substitution variables of a file and of the system.
struct AppleVariables {
    /// The variables of the file, by name.
    var own: [String: [String]] = [:]

    /// Returns a Boolean value that indicates whether a name is defined.
    func defines(_ name: String) -> Bool { own[name] != nil || Self.characters[name] != nil || Self.codes(name) != nil }

    /// The classes of one character that the system defines.
    static let characters: [String: String] = {
        let digit = "0123456789"
        let lower = "abcdefghijklmnopqrstuvwxyz"
        return [
            "digit": digit, "lower": lower, "upper": lower.uppercased(), "alpha": lower + lower.uppercased(),
            "alnum": digit + lower + lower.uppercased(), "xdigit": digit + "abcdefABCDEF",
        ]
    }()

    /// Returns the codes of `$(lang)` or `$(region)`, or nil for another name.
    static func codes(_ name: String) -> [String]? {
        switch name {
        case "lang": languages.split(separator: " ").map(String.init)
        case "region": regions.split(separator: " ").map(String.init)
        default: nil
        }
    }

    /// The codes of ISO 639-1.
    ///
    /// The system's list also has codes of three letters.
    private static let languages = """
        aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en \
        eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja \
        jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb \
        nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq \
        sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
        """

    /// The codes of ISO 3166-1 alpha-2, and the code of Kosovo.
    private static let regions = """
        AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ \
        CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO \
        FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE \
        JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO \
        MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW \
        PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM \
        TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW
        """
}

extension ScalarAutomaton {
    /// Adds a pattern of an Apple file after a state, and returns the end state, or nil if a variable is undefined.
    mutating func apple(
        _ pattern: ApplePatternText, from source: Int, variables: AppleVariables, folds: Bool
    ) -> Int? {
        var last = source
        for part in pattern.parts {
            switch part {
            case .star: last = anything(from: last)
            case .one: last = step(from: last, .any)
            case .literal(let scalar): last = step(from: last, .exact(scalar, folds: folds))
            case .variable(let name):
                guard let next = variable(name, from: last, variables, folds) else { return nil }
                last = next
            }
        }
        return last
    }

    private mutating func variable(
        _ name: String, from source: Int, _ variables: AppleVariables, _ folds: Bool
    ) -> Int? {
        if variables.own[name] == nil, let set = AppleVariables.characters[name] {
            return step(from: source, .ascii(set, folds: folds))
        }
        guard let values = variables.own[name] ?? AppleVariables.codes(name) else { return nil }
        let target = state()
        for value in values where !isTooLarge {
            var last = source
            // A value can have wildcards, but no variables.
            for scalar in value.unicodeScalars {
                switch scalar {
                case "*": last = anything(from: last)
                case "?": last = step(from: last, .any)
                default: last = step(from: last, .exact(scalar, folds: folds))
                }
            }
            join(last, target)
        }
        return target
    }
}
