public import Foundation
import TidemarkModel

/// The certificates of which a server must show one, beside being trusted by the system: its own, or that of an authority that
/// vouches for it.
///
///     let pins = CertificatePins([current, next])        // DER, from the app's resources
///     let transport = URLSessionTransport(pins: pins)
///
/// Name two: the one in use and the one that comes after it. An app in use whose pins are all out of date reaches its server no
/// more, shows `tls_failed`, and keeps what is written until it is updated.
public struct CertificatePins: Hashable, Sendable {
    private let digests: Set<BlobDigest>

    /// - Parameter certificates: as DER. None at all trusts no server.
    public init(_ certificates: [Data]) { digests = Set(certificates.map { BlobDigest(of: $0) }) }

    /// Whether one of them is in a chain, given as DER.
    func accepts(_ chain: [Data]) -> Bool { chain.contains { digests.contains(BlobDigest(of: $0)) } }
}
