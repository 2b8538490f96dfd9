import Foundation
import TidemarkEdge

/// Where the certificate and its key are, in PEM.
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
                        setting, "says nothing without TIDEMARK_TRUSTED_PROXIES: whose word would count?")
                }
            }
            return nil
        }
        var ranges: [AddressRange] = []
        for part in text.split(separator: ",") {
            let name = part.trimmingCharacters(in: .whitespaces)
            guard let range = AddressRange(name) else {
                throw ConfigurationError(
                    .trustedProxies, "\"\(name)\" is no address and no block of them, such as 10.0.0.0/8 or fd00::/8")
            }
            guard !range.isEverything else {
                throw ConfigurationError(
                    .trustedProxies, "\"\(name)\" is everybody: whoever connects could say that he is somebody else")
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

    /// The names by which the server is called, beside addresses and `localhost`.
    func hostNames(_ listen: ListenAddress) throws(ConfigurationError) -> Set<String> {
        // It listens there, so that it is called so as well.
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

    /// As a browser writes them: scheme and host, and the port where it is not the usual one.
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
                throw ConfigurationError(.origins, "\"\(text)\": browsers write \(scheme.lowercased()) and hosts small")
            }
            origins.insert(text)
        }
        return origins
    }

    /// A server for trying things out takes each schema that it is started with, and speaks plain HTTP.
    func requireLoopback(_ listen: ListenAddress) throws(ConfigurationError) {
        let isReachable = try flag(.developmentReachable)
        guard !listen.isLoopback, !isReachable else { return }
        throw ConfigurationError(
            .listen,
            "\(listen) is reached by others, and --dev is for this machine alone: listen on 127.0.0.1, or say it a second time by "
                + "--dev-reachable (TIDEMARK_DEV_REACHABLE=1)")
    }
}
