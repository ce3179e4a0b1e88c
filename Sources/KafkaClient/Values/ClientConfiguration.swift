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
