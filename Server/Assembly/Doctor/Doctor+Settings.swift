import Foundation
import Logging
import NIOCore
import TidemarkEdge
import TidemarkIdentity
import TidemarkModel

extension Doctor {
    /// The days before a certificate's end from which it should be, and must be, replaced.
    private static let (certificateSoon, certificateNow) = (14.0, 3.0)

    /// Reports risky settings.
    func settings(_ configuration: ServerConfiguration) -> [DoctorFinding] {
        var found: [DoctorFinding] = []
        let isLocal = configuration.listen.isLoopback
        if configuration.isDevelopment {
            let why =
                "A server with --dev accepts each schema that it is started with, and keeps its secrets with its data."
            let what = "started in development mode, on \(configuration.listen)"
            let remedy = "Give it a secret of its own (--secret-file) or issuers (--issuers), and leave --dev out."
            found.append(
                isLocal
                    ? .look("development", what, why: why, do: remedy)
                    : .wrong("development", what, why: why, do: remedy))
        }
        if !isLocal, configuration.tls == nil, configuration.proxies == nil {
            found.look(
                "tls", "clients use plain HTTP on \(configuration.listen), and no proxy is named",
                why: "Anyone on the network path can read tokens and records.",
                do:
                    "Set --tls-certificate and --tls-key, or listen on 127.0.0.1 behind a proxy that speaks TLS, and name it "
                    + "by --trusted-proxies (deploy/tls.md).")
        }
        if isLocal, configuration.proxies == nil, configuration.tls == nil, !configuration.isDevelopment {
            found.look(
                "proxies", "listens on \(configuration.listen) only, and no proxy is named",
                why:
                    "Behind an unnamed proxy all clients share one address: one bound for all, and a security log"
                    + " without their addresses.",
                do: "Name the proxy: --trusted-proxies 127.0.0.1,::1")
        }
        if !isLocal, configuration.hostNames.allSatisfy({ Self.isAddress($0) }) {
            found.look(
                "names", "listens on \(configuration.listen), and no name of the server is set",
                why: "Requests to a host name are answered 421: apps and proxies that use one are refused.",
                do: "Name it as they call it: --host-names sync.example")
        }
        if configuration.adminListen == nil, figures == nil {
            found.look(
                "figures", "there is no listener for operators", why: "No one notices a server that hangs.",
                do: "Set --admin-listen 127.0.0.1:8081, and call the doctor with --server http://127.0.0.1:8081")
        } else if let admin = configuration.adminListen, !admin.isLoopback {
            found.look(
                "figures", "operators' calls are accepted on \(admin)",
                why: "Anyone who reaches it can read the server's figures.",
                do: "Listen on 127.0.0.1, or keep clients off that network.")
        }
        found += leaks(configuration)
        return found.isEmpty ? [.well("settings", "nothing risky is set")] : found
    }

    /// Reports secrets and data that others could read.
    private func leaks(_ configuration: ServerConfiguration) -> [DoctorFinding] {
        var found: [DoctorFinding] = []
        for (setting, file) in [(Setting.secret, Setting.secretFile), (.cursorKey, .cursorKeyFile)]
        where environment[setting.rawValue]?.isEmpty == false {
            found.look(
                "secrets", "\(setting.rawValue) is in the environment",
                why: "An environment is shown by many programs and inherited by others.",
                do: "Put it into a file that only the server's user reads, and name the file: \(file.rawValue)")
        }
        if case .postgres(let uri) = configuration.database, URLComponents(string: uri)?.password != nil {
            found.look(
                "secrets", "the database's address holds a password",
                why: "Command lines and environments can be read by others on the machine.",
                do: "Remove it, and use PGPASSFILE or PGPASSWORD.")
        }
        if configuration.logLevel <= .debug {
            found.look(
                "log", "the log's level is \(configuration.logLevel)", why: "Each push writes a line.",
                do: "Set TIDEMARK_LOG_LEVEL=info when you no longer need the details.")
        }
        for origin in configuration.origins.sorted() where origin.hasPrefix("http://") {
            guard let host = URLComponents(string: origin)?.host, !ListenAddress(host: host, port: 0).isLoopback else {
                continue
            }
            found.look(
                "origins", "pages of \(origin) may call",
                why: "Anyone on the network path can replace such a page.",
                do: "Serve the page by https, and name its https origin.")
        }
        return found
    }

    /// Checks the files that are read at the start.
    func files(_ configuration: ServerConfiguration, _ values: SettingValues) -> [DoctorFinding] {
        var found: [DoctorFinding] = []
        for setting in [Setting.secretFile, .cursorKeyFile, .tlsKey, .adminTokenFile] {
            guard let path = values[setting], let mode = Self.mode(of: path), mode & 0o077 != 0 else { continue }
            found.look(
                "secrets", "\(path) may be read by others (mode \(String(mode, radix: 8)))",
                why: "Its reader can pose as the server, sign tokens for every user, or act as an operator.",
                do: "chmod 600 \(path), owned by the server's user.")
        }
        guard let tls = configuration.tls else { return found }
        guard let chain = FileManager.default.contents(atPath: tls.certificate),
            let key = FileManager.default.contents(atPath: tls.key)
        else {
            return found + [
                .wrong(
                    "certificate", "\(tls.certificate) or \(tls.key) cannot be read", why: "The server does not start.",
                    do: "Correct the path or the permissions.")
            ]
        }
        do throws(ServerCertificate.Fault) {
            let certificate = try ServerCertificate(chain: Array(chain), key: Array(key))
            found.append(Self.certificate(endsIn: Double(certificate.end) - Double(now()) / 1_000, tls.certificate))
        } catch {
            found.wrong(
                "certificate", "\(tls.certificate): \(error)",
                why: "The server does not start with it; a running server keeps its earlier certificate.",
                do: "Write a chain whose first certificate belongs to the key.")
        }
        return found
    }

    static func certificate(endsIn seconds: Double, _ name: String) -> DoctorFinding {
        let days = seconds / 86_400
        let what = seconds > 0 ? "\(name) ends in \(Span.words(seconds))" : "\(name) has ended"
        guard days < certificateSoon else { return .well("certificate", what) }
        let why = "Clients refuse to connect from then on; their unsent writes wait on the devices."
        let remedy = "Renew it and write the files: a running server reads them by itself."
        return days < certificateNow
            ? .wrong("certificate", what, why: why, do: remedy) : .look("certificate", what, why: why, do: remedy)
    }

    private static func isAddress(_ host: String) -> Bool {
        // What cannot be parsed as an address is a name.
        (try? SocketAddress(ipAddress: host, port: 0)) != nil
    }

    private static func mode(of path: String) -> Int? {
        // The code that needs the file reports one that cannot be read.
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Checks the limits of the process.
    ///
    /// - Parameter files: the bound on its open files.
    func limits(_ configuration: ServerConfiguration, _ files: Int?) -> [DoctorFinding] {
        guard let files else { return [] }
        let needed = configuration.limits.edge.connectionsMax + configuration.limits.edge.probesMax + OpenFiles.reserve
        guard files < needed else { return .well("files", "\(files) files may be open, \(needed) are needed") }
        return .look(
            "files",
            "\(files) files may be open, and \(configuration.limits.edge.connectionsMax) connections need \(needed)",
            why: "The server accepts fewer connections than configured.",
            do: "LimitNOFILE=\(needed) in the unit, or ulimit -n, for the server's user (this limit is yours).")
    }

    /// Checks that the issuers' keys can be fetched.
    func issuers(_ configuration: ServerConfiguration) async -> [DoctorFinding] {
        let accepted: [Issuer]
        do throws(ConfigurationError) { accepted = try await configuration.acceptedIssuers() } catch {
            return .wrong(
                "keys", "\(error)", why: "A server does not start with these issuers.",
                do: "Correct the file; 'tidemark token explain' says more about one token.")
        }
        var found: [DoctorFinding] = []
        for issuer in accepted {
            guard let source = issuer.keySource else { continue }
            let fetch = KeyFetch(group: eventLoops)
            do throws(KeyFetchError) {
                let keys = try await fetch(source)
                found.well("keys", "\(issuer.name): \(keys.keys.keys.count) keys at \(source)")
            } catch {
                found.wrong(
                    "keys", "\(issuer.name): no keys from \(source): \(error)",
                    why: "Known keys are used for a day; then all of this issuer's users are refused (503, 4503).",
                    do: "Check that the address answers from here, and that it is public.")
            }
        }
        return found
    }
}
