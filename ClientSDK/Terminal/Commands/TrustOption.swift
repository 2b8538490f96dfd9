import ArgumentParser

/// The option for trusted certificates.
struct TrustOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "PEM file of the authority that signed the server's certificate. (default: the system's)",
            valueName: "file"))
    var trust: String?
}
