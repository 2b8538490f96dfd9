import Foundation
import TidemarkEdge

/// The paths of a certificate and its key, in PEM.
package struct CertificatePaths: Hashable, Sendable {
    package var certificate: String
    package var key: String
}

/// Settings about how clients reach the server.
extension SettingValues {
    func tls() throws(ConfigurationError) -> CertificatePaths? {
        switch (self[.tlsCertificate], self[.tlsKey]) {
        case (let certificate?, let key?): return CertificatePaths(certificate: certificate, key: key)
        case (nil, nil): return nil
        case (.some, nil): throw ConfigurationError(.tlsKey, "a certificate needs the file of its key")
        case (nil, .some): throw ConfigurationError(.tlsCertificate, "a key needs the file of its certificate")
        }
    }

    func proxies() throws(ConfigurationError) -> TrustedProxies? {
        let sendsHeader = try flag(.proxyProtocol)
        let fieldName = self[.proxyField]
        guard let text = self[.trustedProxies] else {
            for setting in [Setting.proxyProtocol, .proxyField] where self[setting] != nil {
                guard setting == .proxyProtocol, !sendsHeader else {
                    throw ConfigurationError(
                        setting, "has no effect without TIDEMARK_TRUSTED_PROXIES: name the proxies")
                }
            }
            return nil
        }
        var ranges: [AddressRange] = []
        for part in text.split(separator: ",") {
            let name = part.trimmingCharacters(in: .whitespaces)
            guard let range = AddressRange(name) else {
                throw ConfigurationError(
                    .trustedProxies, "\"\(name)\" is no address and no block: write 10.0.0.1, 10.0.0.0/8 or fd00::/8")
            }
            guard !range.isEverything else {
                throw ConfigurationError(
                    .trustedProxies, "\"\(name)\" covers every address: any client could claim another's address")
            }
            ranges.append(range)
        }
        guard !ranges.isEmpty else { throw ConfigurationError(.trustedProxies, "names no address") }
        guard let field = TrustedProxies.Field(rawValue: (fieldName ?? "x-forwarded-for").lowercased()) else {
            let names = TrustedProxies.Field.allCases.map(\.rawValue).joined(separator: " or ")
            throw ConfigurationError(.proxyField, "must be \(names)")
        }
        return TrustedProxies(ranges, field: field, sendsHeader: sendsHeader)
    }

    /// Reads the host names that requests may use, beside addresses and `localhost`.
    func hostNames(_ listen: ListenAddress) throws(ConfigurationError) -> Set<String> {
        // Clients may also call the server by the host that it listens on.
        var names: Set<String> = [listen.host]
        for part in (self[.hostNames] ?? "").split(separator: ",") {
            let name = part.trimmingCharacters(in: .whitespaces)
            guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && !"/:*@?#[]".utf8.contains($0) })
            else {
                throw ConfigurationError(
                    .hostNames,
                    "\"\(name)\" is no name of a server: write sync.example, without scheme, port or *")
            }
            names.insert(name.lowercased())
        }
        return names
    }

    /// Reads origins as browsers write them: scheme and host, and the port if it is not the scheme's usual one.
    func origins() throws(ConfigurationError) -> Set<String> {
        var origins: Set<String> = []
        for part in (self[.origins] ?? "").split(separator: ",") {
            let text = part.trimmingCharacters(in: .whitespaces)
            guard let url = URLComponents(string: text), let scheme = url.scheme, let host = url.host, !host.isEmpty,
                url.path.isEmpty, url.query == nil, url.fragment == nil, url.user == nil, !text.contains("*")
            else {
                throw ConfigurationError(
                    .origins,
                    "\"\(text)\" is no origin: write https://app.example, with nothing behind the host or port")
            }
            guard text == text.lowercased() else {
                throw ConfigurationError(
                    .origins, "\"\(text)\": write \(scheme.lowercased()) and the host in lower case, as browsers do")
            }
            origins.insert(text)
        }
        return origins
    }

    /// Refuses a reachable address in development mode, which accepts any schema and speaks plain HTTP.
    func requireLoopback(_ listen: ListenAddress) throws(ConfigurationError) {
        let isReachable = try flag(.developmentReachable)
        guard !listen.isLoopback, !isReachable else { return }
        throw ConfigurationError(
            .listen,
            "others can reach \(listen), and --dev is for this machine only: listen on 127.0.0.1, or confirm it by "
                + "--dev-reachable (TIDEMARK_DEV_REACHABLE=1)")
    }
}
