import ArgumentParser
import TidemarkCommandLine

/// `tidemark`: everything that an operator runs, in one program.
@main
struct TidemarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A self-hosted, local-first sync server. 'tide' is the device beside it, in a terminal.",
        discussion: """
            EXAMPLES
              tidemark serve --dev                    a server to try things out with
              tidemark token --dev --user ann         a token of that server for Ann
              tidemark schema check app.schema.json   a schema's summary, or its mistake
              tidemark migrate --plan                 a new version's changes to the tables
              tidemark backup backups/monday          a copy, while servers go on
              tidemark doctor                         what is risky, or about to go wrong
              tidemark why --user bob --record ID     why Bob does not see it

            Exit status: 0 done, 1 failed, 2 something is damaged, 64 wrong usage.
            """,
        version: ProgramVersion.text(of: "tidemark"),
        subcommands: [
            ServeCommand.self, TokenCommand.self, SchemaCommand.self, MigrateCommand.self, CompactCommand.self,
            BackupCommand.self, RestoreCommand.self, VerifyCommand.self,
            EraseCommand.self, DevicesCommand.self, AccountsCommand.self, DoctorCommand.self,
            WhyCommand.self, RecordCommand.self, MayCommand.self, ConnectionsCommand.self, AuditCommand.self,
            SettingsCommand.self,
        ])

    static func main() async {
        leaveSQLiteMemoryUncounted()
        await main(nil)
    }
}
