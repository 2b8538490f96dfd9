import ArgumentParser
import TidemarkCommandLine

/// `tide`: a device in a terminal, with tools that test and measure a server.
@main
struct TideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tide",
        abstract: "A device of Tidemark in a terminal: chat, inspect a device's file, test a server and measure it.",
        discussion: """
            EXAMPLES
              tide chat --dev --user ann --conversation bob
                                            talk to Bob, over 'tidemark serve --dev'
              tide inspect ann.sqlite       the data and the pending writes of a device
              tide replay report.json       replay what happened on a device
              tide demo                     real chat, eight devices, crashes
              tide bench writes --json      figures of this machine

            Exit status: 0 done, 1 failed, 64 wrong usage.
            """,
        version: ProgramVersion.text(of: "tide"),
        subcommands: [
            ChatCommand.self, InspectCommand.self, ReplayCommand.self, DemoCommand.self, BenchCommand.self,
        ])

    static func main() async {
        leaveSQLiteMemoryUncounted()
        await main(nil)
    }
}
