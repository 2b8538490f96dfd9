import ArgumentParser
import TidemarkAssembly

/// `tidemark settings`: what can be set, and how.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Print every setting and limit of 'tidemark serve' as a page, in Markdown.",
        discussion: """
            For each its option, its environment variable, its member in a file of settings (--config), what it means and what \
            counts when it is not set.

            EXAMPLES
              tidemark settings > settings.md
            """)

    func run() { print(SettingTable.markdown, terminator: "") }
}
