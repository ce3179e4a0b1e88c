internal import CRdKafka

/// The kind of a client.
package enum ClientRole: String, Sendable, Equatable {
    case producer
    case consumer
}

/// librdkafka properties in the order in which they are set.
///
/// A later value replaces an earlier one of the same name.
package struct ClientConfiguration: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One property.
    package struct Entry: Sendable, Equatable {
        /// The name of the property, such as `bootstrap.servers`.
        package var name: String
        /// The value in text form.
        package var value: String
    }

    /// The properties.
    package private(set) var entries: [Entry] = []
    /// The source of tokens for OAUTHBEARER, or nil.
    package var tokens: TokenSource?

    /// Creates an empty configuration.
    package init() {}

    /// Creates a configuration with these properties.
    package init(_ properties: KeyValuePairs<String, String>) {
        for (name, value) in properties { self[name] = value }
    }

    /// Creates a configuration from a literal.
    ///
    /// The last value of a name counts.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// The value of a property.
    ///
    /// Setting nil removes the property.
    package subscript(name: String) -> String? {
        get { entries.last { $0.name == name }?.value }
        set {
            let index = entries.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Adds all properties of another configuration, which replace existing ones.
    package mutating func merge(_ other: ClientConfiguration) {
        for entry in other.entries { self[entry.name] = entry.value }
    }
}

/// An error for a property or a set of properties that librdkafka rejects.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of an error.
    package enum Kind: Sendable, Equatable {
        /// The library has no property of this name.
        case unknownProperty
        /// The property does not accept the value, or the library was built without it.
        case invalidValue
        /// Each property is valid, but they contradict each other (from `rd_kafka_new`).
        case refused
    }

    /// The kind of the error.
    package var kind: Kind
    /// The property's name, or nil if the combination of properties is rejected.
    package var property: String?
    /// librdkafka's message.
    package var text: String

    /// The message.
    ///
    /// It begins with the name of the property if librdkafka's message does not contain it, for example because the
    /// property is an alias.
    package var description: String {
        if let property, !text.contains(property) { return "\(property): \(text)" }
        return text
    }
}

// Validation of a configuration by the loaded library.
extension ClientConfiguration {
    /// Sets every property on a new librdkafka configuration and throws the first error.
    package func validate() throws(ConfigurationError) {
        _ = try NativeConfiguration(self)
    }

    /// Sets every property and creates an instance that never connects.
    ///
    /// Only `rd_kafka_new` detects contradictions between properties. It needs no broker.
    package func validate(as role: ClientRole) throws(ConfigurationError) {
        let handle = try ClientHandle(role, configuration: try NativeConfiguration(withoutBrokers), watch: CallWatch())
        handle.destroy()
    }

    private var withoutBrokers: ClientConfiguration {
        var copy = self
        copy["bootstrap.servers"] = nil
        copy["metadata.broker.list"] = nil
        return copy
    }
}

/// A property of the loaded librdkafka.
package struct KnownProperty: Sendable, Equatable {
    /// The kind of client that a property applies to.
    package enum Scope: String, Sendable {
        case producer = "P"
        case consumer = "C"
        case both = "*"
    }

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
    /// These are the properties that librdkafka marks as sensitive (`_RK_SENSITIVE`), and properties with a suffix such
    /// as `.password`.
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

/// The version and the features of the loaded librdkafka, which may differ from the version at compile time.
package enum LibraryInfo {
    /// The version as text, such as `2.0.2`.
    package static var versionText: String { String(cString: rd_kafka_version_str()) }

    /// The version as a number, `0xMMmmrrpp`.
    package static var versionNumber: Int { Int(rd_kafka_version()) }

    /// Returns a Boolean value that indicates whether the version is at least this one.
    package static func isAtLeast(_ major: Int, _ minor: Int, _ revision: Int) -> Bool {
        versionNumber >> 8 >= major << 16 | minor << 8 | revision
    }

    /// A Boolean value that indicates whether the library knows the ids of topics (since 2.3.0).
    package static var hasTopicIDs: Bool { linkd_kafka_has_topic_ids() != 0 }

    /// A Boolean value that indicates whether SCRAM works with Kafka 3.7.2 and later.
    ///
    /// Before 2.6.1 the client sends its nonce twice, and such brokers answer "invalid credentials" to correct
    /// passwords (librdkafka issue 4895, CVE-2024-56128).
    package static var supportsSCRAM: Bool { isAtLeast(2, 6, 1) }

    /// A Boolean value that indicates whether `fetch.queue.backoff.ms` exists (since 2.2.0).
    ///
    /// Setting it in older versions is an error.
    package static var supportsFetchQueueBackoff: Bool { hasProperty("fetch.queue.backoff.ms") }

    /// A Boolean value that indicates whether the library was built with LZ4.
    package static var hasLZ4: Bool { accepts("compression.codec", "lz4") }

    /// Returns a Boolean value that indicates whether a property of this name exists.
    package static func hasProperty(_ name: String) -> Bool {
        do {
            return try NativeConfiguration(ClientConfiguration()).hasProperty(name)
        } catch {
            return false
        }
    }

    /// Returns a Boolean value that indicates whether the library accepts this value for this property.
    package static func accepts(_ name: String, _ value: String) -> Bool {
        do {
            try ClientConfiguration([name: value]).validate()
            return true
        } catch {
            return false
        }
    }
}
