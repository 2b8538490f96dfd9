import ArgumentParser

/// Whom to trust where a server speaks TLS.
struct TrustOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The authority that vouches for the server's certificate, PEM. (default: those of the system)",
            valueName: "file"))
    var trust: String?
}
