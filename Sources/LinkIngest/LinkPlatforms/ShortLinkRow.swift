internal import LinkCoordinator
package import ByteStorage
package import ShortLinks

/// A short link and its destination, as an export states them.
package struct ShortLinkRow {
    /// The reasons why a row cannot be used.
    package enum Fault: String, Error {
        /// The short link is no link as a platform writes it.
        case link = "bad_link"
        /// The destination is no link.
        case destination = "bad_destination"
        /// The short link or the destination is too long.
        case size = "too_long"
    }

    /// The host of the short link.
    package let host: ByteView
    /// Everything after the host, without an empty query and an empty fragment.
    package let tail: ByteView
    /// The destination.
    package let destination: ByteView

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - link: The short link, with the scheme `http` or `https`.
    ///   - destination: The destination, with any scheme.
    package init(link: ByteView, destination: ByteView) throws(Fault) {
        guard let url = PlatformURL(link), url.isWeb, url.hasPlainHost, Self.isClean(link) else { throw .link }
        guard LinkPlatforms.isLink(destination), Self.isClean(destination) else { throw .destination }
        host = url.host
        tail = url.query.isEmpty && url.fragment.count <= 1 ? url.path : link.dropFirst(url.origin.count)
        self.destination = destination
        // The path of the key has a slash, if the link has none.
        let added = tail.hasPrefix(ByteView("/")) ? 0 : 1
        guard host.count + tail.count + added <= ShortLinkKey.maxBytes,
            destination.count <= ShortLinkKey.maxDestinationBytes
        else { throw .size }
    }

    /// Returns a Boolean value that indicates whether a route table may accept the bytes, and none of them is a space.
    static func isClean(_ link: ByteView) -> Bool {
        ByteScan.firstForbidden(in: link) == nil && link.firstIndex(of: UInt8(ascii: " ")) == nil
    }
}

extension ShortLinkFile {
    /// Returns the entry of a link: of the whole link, else without its fragment, else also without its query.
    package func answer(to link: ByteView) -> Answer? { PlatformURL(link).flatMap { answer(to: $0) } }

    func answer(to url: PlatformURL) -> Answer? {
        guard url.isWeb, url.hasPlainHost else { return nil }
        let tail = url.text.dropFirst(url.origin.count)
        var found = find(host: url.host, tail: tail)
        if found == nil, !url.fragment.isEmpty {
            found = find(host: url.host, tail: tail.slice(0, tail.count &- url.fragment.count))
        }
        if found == nil, url.path.count < tail.count &- url.fragment.count {
            found = find(host: url.host, tail: url.path)
        }
        // The entry's link has the same bytes as this link. A forged file could have other bytes in the destination,
        // and the note about it could not be read with a space.
        guard let found, ShortLinkRow.isClean(found.destination) else { return nil }
        return found
    }
}
