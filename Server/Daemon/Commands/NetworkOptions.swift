import ArgumentParser
import TidemarkAssembly

/// Options of `tidemark serve` about how clients reach the server: by TLS, through proxies, out of web pages.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Speak TLS with this certificate and those above it, PEM. Taken anew when it changes, and on SIGHUP. \
            (environment: TIDEMARK_TLS_CERTIFICATE; default: plain HTTP)
            """, valueName: "file"))
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp(
            "The certificate's key, PEM, without a password. (environment: TIDEMARK_TLS_KEY)", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            """
            Proxies whose word counts for who is at the other end, such as 10.0.0.0/8,::1; everybody else's counts for \
            nothing. (environment: TIDEMARK_TRUSTED_PROXIES; default: nobody)
            """, valueName: "addresses"))
    var trustedProxies: String?

    @Option(
        help: ArgumentHelp(
            """
            The field that they write: x-forwarded-for or forwarded. (environment: TIDEMARK_PROXY_FIELD; default: \
            x-forwarded-for)
            """, valueName: "field"))
    var proxyField: String?

    @Flag(
        help: """
            Their connections begin with a header of the PROXY protocol, version 2, and are closed without. (environment: \
            TIDEMARK_PROXY_PROTOCOL=1)
            """)
    var proxyProtocol = false

    @Option(
        help: ArgumentHelp(
            """
            Web origins whose pages may connect and call, such as https://app.example. Apps send none and need none. \
            (environment: TIDEMARK_ORIGINS; default: none)
            """, valueName: "origins"))
    var origins: String?

    /// What was given, by setting.
    var values: [(Setting, String, String?)] {
        [
            (.tlsCertificate, "--tls-certificate", tlsCertificate), (.tlsKey, "--tls-key", tlsKey),
            (.trustedProxies, "--trusted-proxies", trustedProxies), (.proxyField, "--proxy-field", proxyField),
            (.proxyProtocol, "--proxy-protocol", proxyProtocol ? "1" : nil), (.origins, "--origins", origins),
        ]
    }
}
