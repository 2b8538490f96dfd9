import ArgumentParser

/// `tidemark`: everything that an operator runs, in one program.
@main
struct TidemarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A self-hosted, local-first sync server, with the means to try and to measure it.",
        discussion: """
            EXAMPLES
              tidemark serve --dev                     a server on this machine, with a ready token
              tidemark demo                            real chat through eight devices and six crashes
              tidemark chat --dev --user ann --conversation bob
                                                       talk to bob from this terminal
              tidemark token --user ann --ttl 8h       a token for a device of ann's
              tidemark schema check app.schema.json    what is wrong with a schema, or what it says
              tidemark inspect ann.sqlite              what a device has, waits for, and why
              tidemark bench writes --json             figures of this machine

            Exit status: 0 done, 1 failed, 64 wrong usage.
            """,
        subcommands: [
            ServeCommand.self, TokenCommand.self, SchemaCommand.self, InspectCommand.self, ChatCommand.self,
            DemoCommand.self, BenchCommand.self,
        ])
}
