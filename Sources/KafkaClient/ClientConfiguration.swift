/// What a client instance is for.
package enum ClientRole: String, Sendable, Equatable {
    case producer
    case consumer
}

/// librdkafka properties in the order in which they are set; a later one replaces an earlier one of the same name.
package struct ClientConfiguration: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One property.
    package struct Entry: Sendable, Equatable {
        /// librdkafka's name, such as `bootstrap.servers`.
        package var name: String
        /// The value as text.
        package var value: String
    }

    /// The properties.
    package private(set) var entries: [Entry] = []

    /// Makes an empty configuration.
    package init() {}

    /// Makes a configuration of these properties.
    package init(_ properties: KeyValuePairs<String, String>) {
        for (name, value) in properties { self[name] = value }
    }

    /// Makes a configuration of a literal; of two values for one name the later counts.
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }

    /// The value of a property; setting nil takes it out.
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

    /// Takes over all properties of another configuration, which win.
    package mutating func merge(_ other: ClientConfiguration) {
        for entry in other.entries { self[entry.name] = entry.value }
    }
}

/// A property or a set of properties that librdkafka refuses.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    package enum Kind: Sendable, Equatable {
        /// No property has this name in this library.
        case unknownProperty
        /// The property exists, and its value is not one of its values, or the library was built without it.
        case invalidValue
        /// Each property is right by itself, but not all together (from `rd_kafka_new`).
        case refused
    }

    /// What is wrong.
    package var kind: Kind
    /// The property's name, or nil where all of them together are refused.
    package var property: String?
    /// librdkafka's own message.
    package var text: String

    /// Makes an error.
    package init(kind: Kind, property: String?, text: String) {
        self.kind = kind
        self.property = property
        self.text = text
    }

    /// The message, with the property's name where librdkafka says another one (the one that it is an alias of).
    package var description: String {
        if let property, !text.contains(property) { return "\(property): \(text)" }
        return text
    }
}
