import NIOSSL

/// Texts about failed TLS handshakes, for people. The library's own errors contain numbers and the names of its source
/// files, which reveal where the app was built.
enum TLSWords {
    private static let known = [
        (
            "CERTIFICATE_VERIFY_FAILED",
            "its certificate is not valid here: it has expired, or no authority that this device trusts has signed it"
        ),
        ("WRONG_VERSION_NUMBER", "the server does not speak TLS"),
    ]

    static func of(_ error: any Error) -> String {
        if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
            return "its certificate is for another host name"
        }
        let text = "\(error)"
        for (mark, words) in known where text.contains(mark) { return words }
        // BoringSSL writes its reasons in capitals after its own name.
        guard let start = text.firstRange(of: "OPENSSL_internal:") else { return "the TLS handshake failed" }
        let reason = text[start.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return "the TLS handshake failed (\(reason))"
    }
}
