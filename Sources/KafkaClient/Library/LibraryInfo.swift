internal import CRdKafka

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
