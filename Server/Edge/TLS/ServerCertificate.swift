import NIOCore
package import NIOSSL

/// A certificate with its chain and its key, ready for handshakes: TLS 1.2 and 1.3, HTTP/1.1.
package struct ServerCertificate: Sendable {
    /// The reason why files hold no usable certificate; safe to log, because it contains nothing of a key.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    package let context: NIOSSLContext
    /// Seconds since 1970 at which the first certificate of the chain expires.
    package let end: Int64

    /// - Parameters:
    ///   - chain: PEM: the server's own certificate first, then those that lead to a root.
    ///   - key: PEM, without a password.
    package init(chain: [UInt8], key: [UInt8]) throws(Fault) {
        let certificates: [NIOSSLCertificate]
        do { certificates = try NIOSSLCertificate.fromPEMBytes(chain) } catch {
            throw Fault("the certificate file has no certificate that can be read: it must be PEM")
        }
        guard let end = certificates.map({ Int64($0.notValidAfter) }).min() else {
            throw Fault("the certificate file has no certificate")
        }
        let privateKey: NIOSSLPrivateKey
        do { privateKey = try NIOSSLPrivateKey(bytes: key, format: .pem) } catch {
            throw Fault("the key file has no private key that can be read: it must be PEM without a password")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        // A peer that does not answer our closing alert is cut.
        configuration.shutdownTimeout = .seconds(1)
        do { context = try NIOSSLContext(configuration: configuration) } catch {
            throw Fault("the key is not that of the first certificate, or a certificate cannot be used")
        }
        self.end = end
    }
}
