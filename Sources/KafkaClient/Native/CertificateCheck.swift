internal import CRdKafka
internal import Synchronization

/// The reason why OpenSSL refused a broker's certificate, which librdkafka's texts do not contain.
///
/// librdkafka calls the callback on a thread of its own. The client keeps this object as long as the instance exists.
final class CertificateCheck: Sendable {
    private let code = Atomic<Int32>(0)

    /// The reason of the last refusal, or nil.
    var problem: CertificateProblem? {
        let code = code.load(ordering: .relaxed)
        return code == 0 ? nil : CertificateProblem(openSSLCode: code)
    }

    /// Sets the callback, which keeps OpenSSL's result.
    ///
    /// A library without TLS refuses the callback, and then no certificate is checked.
    func observe(_ configuration: borrowing NativeConfiguration) {
        configuration.setOpaque(Unmanaged.passUnretained(self).toOpaque())
        configuration.setCertificateCallback { _, _, _, error, _, _, _, _, _, opaque in
            guard let error, let opaque else { return 1 }
            if error.pointee == 0 { return 1 }
            Unmanaged<CertificateCheck>.fromOpaque(opaque).takeUnretainedValue().code
                .store(error.pointee, ordering: .relaxed)
            return 0
        }
    }
}
