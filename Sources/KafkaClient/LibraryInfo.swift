internal import CRdKafka

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
