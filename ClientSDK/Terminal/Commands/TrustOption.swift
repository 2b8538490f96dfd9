import ArgumentParser

/// The option for trusted certificates.
struct TrustOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The authority that vouches for the server's certificate, PEM. (default: those of the system)",
            valueName: "file"))
    var trust: String?
}
