internal import LinkCoordinator

extension String {
    /// The text with ASCII letters in lowercase, which is how the resolver compares names and facts.
    var lowercasedASCII: String { String(decoding: utf8.map(lowerASCII), as: UTF8.self) }
}
