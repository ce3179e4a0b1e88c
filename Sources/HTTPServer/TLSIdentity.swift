/// The certificate and the private key with which a server proves its name in TLS.
package struct TLSIdentity: Sendable {
    /// The certificate, and the certificates between it and a known authority, in the PEM format.
    package var certificate: String
    /// The private key in the PEM format, without a password.
    package var key: String

    /// Creates an identity.
    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
