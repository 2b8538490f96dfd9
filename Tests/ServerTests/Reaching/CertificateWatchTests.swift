import Foundation
import Logging
import Testing
import TidemarkLock
import TidemarkTelemetry

@testable import TidemarkAssembly

/// The certificate follows its files, and a broken one does not end the service of a good one.
@Suite(.timeLimit(.minutes(5))) struct CertificateWatchTests {
    /// A watch over files, with its counters and log.
    private struct Ground {
        let files: CertificateFolder
        let log = LogCapture()
        let telemetry: Telemetry
        let watch: CertificateWatch

        init(_ certificate: MadeCertificate, now: @escaping @Sendable () -> Int64 = { 1_000 }) throws {
            files = try CertificateFolder(certificate)
            let logger = Logger(label: "test") { [log] _ in log }
            telemetry = Telemetry(now: now, logger: logger)
            watch = try CertificateWatch(
                CertificatePaths(certificate: files.chainFile.path, key: files.keyFile.path), now: now,
                clock: ContinuousClock(), metrics: telemetry.metrics, logger: logger)
        }

        func reads(_ outcome: String) -> Bool {
            telemetry.registry.text.contains("\ntidemark_certificate_reads_total{outcome=\"\(outcome)\"} 1\n")
        }
    }

    @Test func `a new certificate is used once two looks have seen the same files`() async throws {
        let (old, new) = try await (MadeCertificate(days: 10), MadeCertificate(days: 20))
        let ground = try Ground(old)
        defer { try? ground.files.remove() }
        let end = ground.watch.end
        ground.watch.look()
        try old.chain.write(to: ground.files.chainFile)
        try new.key.write(to: ground.files.keyFile)
        ground.watch.look()
        try ground.files.write(new)
        ground.watch.look()
        #expect(ground.watch.end == end && ground.log.lines.isEmpty, "what changes from look to look is being written")
        ground.watch.look()
        #expect(ground.watch.end > end && ground.reads("accepted"))
        #expect(ground.log.lines.count { $0.contains("info A new certificate is in use") } == 1)
        ground.watch.look()
        ground.watch.look()
        #expect(ground.log.lines.count == 1)
    }

    @Test func `unusable files are reported and counted once, and the certificate before stays in use`() async throws {
        let (old, new) = try await (MadeCertificate(days: 10), MadeCertificate(days: 20))
        let ground = try Ground(old)
        defer { try? ground.files.remove() }
        let end = ground.watch.end
        try new.chain.write(to: ground.files.chainFile)
        for _ in 0..<4 { ground.watch.look() }
        #expect(ground.watch.end == end && ground.reads("refused"))
        #expect(ground.log.lines.count == 1 && ground.log.lines[0].contains("the key is not that of the first"))
        // The other half arrives.
        try new.key.write(to: ground.files.keyFile)
        for _ in 0..<2 { ground.watch.look() }
        #expect(ground.watch.end > end && ground.reads("accepted"))
    }

    @Test(arguments: ["no PEM", "", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `an invalid certificate is refused`(_ text: String) async throws {
        let ground = try Ground(try await MadeCertificate())
        defer { try? ground.files.remove() }
        let end = ground.watch.end
        try Data(text.utf8).write(to: ground.files.chainFile)
        ground.watch.look(isAsked: true)
        #expect(ground.watch.end == end && ground.reads("refused"))
    }

    @Test func `a missing file is reported once until it exists again`() async throws {
        let certificate = try await MadeCertificate()
        let ground = try Ground(certificate)
        defer { try? ground.files.remove() }
        try FileManager.default.removeItem(at: ground.files.keyFile)
        for _ in 0..<3 { ground.watch.look() }
        #expect(ground.log.lines.count == 1 && ground.reads("refused"))
        try ground.files.write(certificate)
        for _ in 0..<3 { ground.watch.look() }
        #expect(ground.log.lines.count == 1, "it is what is in use")
    }

    @Test func `on request the files are tried at once, and again`() async throws {
        let (old, new) = try await (MadeCertificate(days: 10), MadeCertificate(days: 20))
        let ground = try Ground(old)
        defer { try? ground.files.remove() }
        let end = ground.watch.end
        try ground.files.write(new)
        ground.watch.look(isAsked: true)
        #expect(ground.watch.end > end)
        try Data("broken".utf8).write(to: ground.files.keyFile)
        for _ in 0..<2 { ground.watch.look(isAsked: true) }
        #expect(ground.log.lines.count { $0.contains("cannot be used") } == 2)
    }

    @Test func `an expired certificate does not replace one that ends later`() async throws {
        let (short, long) = try await (MadeCertificate(days: 1), MadeCertificate(days: 20))
        let days = Int64(Date().timeIntervalSince1970 * 1_000) + 5 * 86_400_000
        let ground = try Ground(long) { days }
        defer { try? ground.files.remove() }
        let end = ground.watch.end
        try ground.files.write(short)
        ground.watch.look(isAsked: true)
        #expect(ground.watch.end == end && ground.reads("refused"))
        // A server without another certificate starts with it, and logs that.
        let late = try Ground(short) { days }
        defer { try? late.files.remove() }
        #expect(late.log.lines.first?.hasPrefix("error The certificate has ended") == true)
    }

    @Test func `a server does not start with unusable files`() async throws {
        let (one, other) = try await (MadeCertificate(), MadeCertificate())
        let files = try CertificateFolder(one)
        defer { try? files.remove() }
        func start() throws {
            _ = try CertificateWatch(
                CertificatePaths(certificate: files.chainFile.path, key: files.keyFile.path), now: { 1_000 },
                clock: ContinuousClock(), metrics: ServerMetrics(MetricRegistry()), logger: Logger(label: "test"))
        }
        try other.key.write(to: files.keyFile)
        #expect(throws: ConfigurationError.self) { try start() }
        try FileManager.default.removeItem(at: files.keyFile)
        #expect(throws: ConfigurationError.self) { try start() }
    }
}
