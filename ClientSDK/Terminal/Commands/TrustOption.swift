import ArgumentParser

/// The option that says which certificates to trust.
struct TrustOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The authority that vouches for the server's certificate, PEM. (default: those of the system)",
            valueName: "file"))
    var trust: String?
}
