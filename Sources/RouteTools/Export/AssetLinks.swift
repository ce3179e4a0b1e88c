/// The file `assetlinks.json`, by which a site says which Android app may open its links (Digital Asset Links).
package enum AssetLinks {
    /// The file, the same for each host.
    package static func json(package: String, fingerprints: [String]) -> String {
        var list = JSONText()
        list.beginArray()
        for fingerprint in fingerprints { list.text(nil, fingerprint.uppercased()) }
        list.endArray()
        var name = JSONText()
        name.text(nil, package)
        return """
            [
              {
                "relation": ["delegate_permission/common.handle_all_urls"],
                "target": {
                  "namespace": "android_app",
                  "package_name": \(name.finish()),
                  "sha256_cert_fingerprints": \(list.finish())
                }
              }
            ]

            """
    }

    /// Whether the text is a SHA-256 as `keytool` prints it: 32 bytes in hexadecimal with colons.
    package static func isFingerprint(_ text: String) -> Bool {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        return groups.count == 32
            && groups.allSatisfy { $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}
