/// A property of the loaded librdkafka.
package struct KnownProperty: Sendable, Equatable {
    /// The kind of client that a property applies to.
    package enum Scope: String, Sendable {
        case producer = "P"
        case consumer = "C"
        case both = "*"
    }

    /// The name.
    package var name: String
    /// The kind of client that the property applies to.
    package var scope: Scope
    /// The range or the accepted values as in librdkafka's manual.
    ///
    /// May be empty.
    package var range: String
    /// The default as in the manual.
    ///
    /// May be empty.
    package var defaultValue: String
}

/// All properties of the loaded librdkafka, read from its own manual (`rd_kafka_conf_properties_show`).
package enum KnownProperties {
    /// The properties in the manual's order, each name once.
    ///
    /// Properties without a text value, such as callbacks, are left out.
    package static let all: [KnownProperty] = parse(propertiesManual())

    /// Returns the property of this name, or nil.
    package static func named(_ name: String) -> KnownProperty? { all.first { $0.name == name } }

    /// Returns a Boolean value that indicates whether the property's value must never be printed or logged.
    ///
    /// These are the properties that librdkafka marks as sensitive (`_RK_SENSITIVE`), and those with a suffix such as
    /// `.password`.
    package static func isSecret(_ name: String) -> Bool {
        if secrets.contains(name) { return true }
        return name.hasSuffix(".password") || name.hasSuffix(".secret") || name.hasSuffix(".key.pem")
            || name.hasSuffix(".private.key.passphrase") || name.hasSuffix(".private.key.pem")
    }

    private static let secrets: Set<String> = [
        "sasl.password", "ssl.key.password", "ssl.key.pem", "ssl_key", "ssl.keystore.password",
        "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config", "sasl.username",
    ]

    /// Parses the manual's table: `name | C/P | range | default | importance | description`.
    static func parse(_ manual: String) -> [KnownProperty] {
        var found: [KnownProperty] = []
        var names: Set<String> = []
        for line in manual.split(separator: "\n") {
            let columns = line.split(separator: "|", maxSplits: 5, omittingEmptySubsequences: false).map(trimmed)
            guard columns.count == 6, let scope = KnownProperty.Scope(rawValue: columns[1]),
                !columns[5].hasSuffix("see dedicated API*"), names.insert(columns[0]).inserted
            else { continue }
            found.append(
                KnownProperty(name: columns[0], scope: scope, range: columns[2], defaultValue: columns[3]))
        }
        return found
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
