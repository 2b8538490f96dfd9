import ArgumentParser
import TidemarkWire

/// `tidemark`: everything that an operator runs, in one program.
@main
struct TidemarkCommand: AsyncParsableCommand {
    /// Of the program; apps and servers of different versions agree by the protocol's version.
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A self-hosted, local-first sync server, with the means to try and to measure it.",
        discussion: """
            EXAMPLES
              tidemark serve --dev                    a server to try things out with
              tidemark token --dev --user ann         a token of that server for Ann
              tidemark chat --dev --user ann --conversation bob
                                                      talk to Bob from this terminal
              tidemark demo                           real chat, eight devices, crashes
              tidemark schema check app.schema.json   what a schema says, or its mistake
              tidemark inspect ann.sqlite             what a device has, awaits, and why
              tidemark bench writes --json            figures of this machine

            Exit status: 0 done, 1 failed, 64 wrong usage.
            """,
        version: "tidemark \(version), protocol version \(WireVersion.current)",
        subcommands: [
            ServeCommand.self, TokenCommand.self, SchemaCommand.self, InspectCommand.self, ChatCommand.self,
            DemoCommand.self, BenchCommand.self,
        ])
}
