internal import StrictJSON

/// The file `assetlinks.json`, in which a site lists the Android apps that can open its links (Digital Asset Links).
package enum AssetLinks {
    /// Returns the file, which is the same for every host.
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

    /// Returns a Boolean value that indicates whether a text is a SHA-256 in the form that `keytool` prints.
    ///
    /// It has 32 bytes in hexadecimal, separated by colons.
    package static func isFingerprint(_ text: String) -> Bool {
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        return groups.count == 32
            && groups.allSatisfy { $0.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}
