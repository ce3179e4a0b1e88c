internal import CRdKafka

/// What the librdkafka that runs (not the one compiled against) is and can do.
package enum LibraryInfo {
    /// The version as text, such as `2.0.2`.
    package static var versionText: String { String(cString: rd_kafka_version_str()) }

    /// The version as a number, `0xMMmmrrpp`.
    package static var versionNumber: Int { Int(rd_kafka_version()) }

    /// Whether the version is at least this one.
    package static func isAtLeast(_ major: Int, _ minor: Int, _ revision: Int) -> Bool {
        versionNumber >> 8 >= major << 16 | minor << 8 | revision
    }

    /// Whether SCRAM works against Kafka from 3.7.2 on: before 2.6.1 the client sent its nonce twice and such brokers
    /// answer "invalid credentials" to right passwords (librdkafka issue 4895, CVE-2024-56128).
    package static var supportsSCRAM: Bool { isAtLeast(2, 6, 1) }

    /// Whether `fetch.queue.backoff.ms` exists (2.2.0); setting it before is an error.
    package static var supportsFetchQueueBackoff: Bool { hasProperty("fetch.queue.backoff.ms") }

    /// Whether the library was built with LZ4.
    package static var hasLZ4: Bool { accepts("compression.codec", "lz4") }

    /// Whether a property of this name exists.
    package static func hasProperty(_ name: String) -> Bool {
        do {
            return try NativeConfiguration(ClientConfiguration()).knows(name)
        } catch {
            return false
        }
    }

    /// Whether the library takes this value for this property.
    package static func accepts(_ name: String, _ value: String) -> Bool {
        do {
            try ClientConfiguration([name: value]).validate()
            return true
        } catch {
            return false
        }
    }
}
