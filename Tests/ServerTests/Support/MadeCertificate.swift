import Foundation
import NIOSSL
import Testing

/// A self-signed certificate of this machine, made by openssl for the length of a test.
struct MadeCertificate {
    let chain: Data
    let key: Data

    /// - Parameter days: its validity, which is the only visible difference between two of them.
    init(days: Int = 30) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (chainFile, keyFile) = (folder.appending(path: "chain.pem"), folder.appending(path: "key.pem"))
        let command = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days \(days) \
            -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout '\(keyFile.path)' -out '\(chainFile.path)' 2>/dev/null
            """
        // Foundation's Process has crashed beside other tests. Waiting must not hold a thread on which tests run.
        let status: Int32 = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: popen(command, "r").map { pclose($0) } ?? -1)
            }
        }
        try #require(status == 0, "openssl is needed for this test")
        chain = try Data(contentsOf: chainFile)
        key = try Data(contentsOf: keyFile)
    }

    /// A client configuration that trusts only this certificate.
    func clientConfiguration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(chain)))
        return configuration
    }
}

/// The certificate and key files that a server reads, in a folder of their own.
struct CertificateFolder {
    let folder: URL

    init(_ certificate: MadeCertificate) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(certificate)
    }

    var chainFile: URL { folder.appending(path: "chain.pem") }
    var keyFile: URL { folder.appending(path: "key.pem") }
    var settings: [String: String] {
        ["TIDEMARK_TLS_CERTIFICATE": chainFile.path, "TIDEMARK_TLS_KEY": keyFile.path]
    }

    func write(_ certificate: MadeCertificate) throws {
        try certificate.chain.write(to: chainFile)
        try certificate.key.write(to: keyFile)
    }

    func remove() throws { try FileManager.default.removeItem(at: folder) }
}
