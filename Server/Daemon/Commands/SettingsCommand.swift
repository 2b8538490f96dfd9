import ArgumentParser
import TidemarkAssembly

/// `tidemark settings`: prints all settings.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Print every setting and limit of 'tidemark serve' as a page, in Markdown.",
        discussion: """
            Each has its option, its environment variable, its member in a file of settings (--config), its meaning \
            and its default.

            EXAMPLES
              tidemark settings > settings.md
            """)

    func run() { print(SettingTable.markdown, terminator: "") }
}
