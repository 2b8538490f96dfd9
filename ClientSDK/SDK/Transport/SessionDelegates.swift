#if canImport(Security)
import Foundation
import Security

/// Follows no redirect: a token is for the server that the app named.
final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

/// Trusts a server that the system trusts and that presents a pinned certificate.
final class PinningDelegate: NSObject, URLSessionTaskDelegate {
    private let pins: CertificatePins

    init(_ pins: CertificatePins) { self.pins = pins }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        pins.judge(challenge, completionHandler)
    }
}

extension CertificatePins {
    /// Answers a session's challenge about the server's certificate; other challenges are left to the system.
    func judge(
        _ challenge: URLAuthenticationChallenge,
        _ answer: (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            return answer(.performDefaultHandling, nil)
        }
        guard let trust = challenge.protectionSpace.serverTrust, SecTrustEvaluateWithError(trust, nil),
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate],
            accepts(chain.map { SecCertificateCopyData($0) as Data })
        else { return answer(.cancelAuthenticationChallenge, nil) }
        answer(.useCredential, URLCredential(trust: trust))
    }
}
#endif
