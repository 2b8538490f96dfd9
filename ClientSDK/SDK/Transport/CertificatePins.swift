public import Foundation
import TidemarkModel

/// The certificates of which a server must present one, besides being trusted by the system: its own, or that of an
/// authority in its chain.
///
///     let pins = CertificatePins([current, next])        // DER, from the app's resources
///     let transport = URLSessionTransport(pins: pins)
///
/// Name two: the current certificate and its successor. An installed app whose pins are all out of date no longer
/// reaches its server, shows `tls_failed`, and keeps its writes until it is updated.
public struct CertificatePins: Hashable, Sendable {
    private let digests: Set<BlobDigest>

    /// - Parameter certificates: the certificates as DER. An empty list trusts no server.
    public init(_ certificates: [Data]) { digests = Set(certificates.map { BlobDigest(of: $0) }) }

    /// Returns whether one of them is in a chain, given as DER.
    func accepts(_ chain: [Data]) -> Bool { chain.contains { digests.contains(BlobDigest(of: $0)) } }
}
