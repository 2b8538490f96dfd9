import ArgumentParser
import TidemarkAssembly

/// The options of `tidemark serve` for the way of clients to the server: TLS, proxies and web pages.
struct NetworkOptions: ParsableArguments {
    @Option(help: ArgumentHelp(Setting.tlsCertificate.help, valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp(Setting.tlsKey.help, valueName: "file"))
    var tlsKey: String?

    @Option(help: ArgumentHelp(Setting.trustedProxies.help, valueName: "addresses"))
    var trustedProxies: String?

    @Option(help: ArgumentHelp(Setting.proxyField.help, valueName: "field"))
    var proxyField: String?

    @Flag(help: ArgumentHelp(Setting.proxyProtocol.help))
    var proxyProtocol = false

    @Option(help: ArgumentHelp(Setting.hostNames.help, valueName: "names"))
    var hostNames: String?

    @Option(help: ArgumentHelp(Setting.origins.help, valueName: "origins"))
    var origins: String?

    /// The given values by setting.
    var values: [(Setting, String?)] {
        [
            (.tlsCertificate, tlsCertificate), (.tlsKey, tlsKey), (.trustedProxies, trustedProxies),
            (.proxyField, proxyField), (.proxyProtocol, proxyProtocol ? "1" : nil), (.hostNames, hostNames),
            (.origins, origins),
        ]
    }
}
