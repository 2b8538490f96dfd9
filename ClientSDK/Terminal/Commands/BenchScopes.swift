import ArgumentParser

/// `tide bench scopes`.
struct BenchScopes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scopes",
        abstract: "The time to fill a device with many scopes, and to connect it again.",
        discussion: """
            Each scope is a conversation with one record. The device is this process, on the real socket; it is filled \
            completely, and then connects again without changes.

            EXAMPLES
              tide bench scopes
              tide bench scopes --scopes 10000 --strict
            """)

    @Option(help: "Conversations of the device's user.")
    var scopes = 2_000
    @Flag(help: "End with status 1 when a limit is missed.")
    var strict = false
    @OptionGroup var target: BenchTargetOptions

    func validate() throws { try bound(scopes, "--scopes", 1...20_000) }

    func run() async throws {
        let run = ScopesRun(scopes: scopes)
        let table = try await target.prepared { try await run.run(on: $0) }
        try table.show(json: target.json, isStrict: strict)
    }
}
