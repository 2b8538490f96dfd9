import ArgumentParser
import Foundation
import Tidemark
import TidemarkCommandLine
import TidemarkModel
import TidemarkNIOTransport

/// `tide inspect`: shows a device's database from outside.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what a device's database knows: outbox, refused writes, scopes, or one record's story.",
        discussion: """
            Reads the SQLite file of an app that uses the SDK and changes nothing; the app may be running.

            With --live it continues, and refreshes each second. If --server and --schema are also given, it opens the \
            file as its app would and connects: then it also shows the connection, and has the two buttons of a \
            developer's screen, s to sync now and c to clear the cache. If another process has the file open, that \
            process is named, and the file is only read. In a pipe, changed lines are printed, 'sync yes' and \
            'clear yes' are the buttons, and it ends with its input.

            EXAMPLES
              tide inspect ann-1f2e.sqlite
              tide inspect ann-1f2e.sqlite --json > report.json
              tide inspect ann-1f2e.sqlite \\
                  record messages 018f3a2b-0000-7000-8000-000000000002
              tide inspect ann-1f2e.sqlite rescued
              tide inspect ann-1f2e.sqlite --live
              tide inspect ann-1f2e.sqlite --live --dev \\
                  --server http://127.0.0.1:8080 --schema app.schema.json
            """)

    @Argument(help: "The device's SQLite file.")
    var file: String

    @Argument(
        help: ArgumentHelp(
            "'record COLLECTION ID' for one record: the shown state, the server's state, pending and refused writes. "
                + "'rescued' for records that the server lost when its database went back.",
            valueName: "record"))
    var question: [String] = []

    @Flag(help: "Print the answer as JSON. Without a record it has no field values.")
    var json = false

    @Flag(help: "Continue, and refresh each second.")
    var live = false

    @Option(help: "With --live: open the file, and connect to this server.")
    var server: String?

    @Option(help: ArgumentHelp("With --server: the schema of the app that wrote the file, JSON.", valueName: "file"))
    var schema: String?

    @OptionGroup var trust: TrustOption
    @OptionGroup var tokens: TokenOptions

    func validate() throws {
        _ = try key
        guard live || (server == nil && schema == nil) else {
            throw ValidationError("--server and --schema go with --live.")
        }
        guard (server == nil) == (schema == nil) else {
            throw ValidationError("--server and --schema go together: the file is opened as its app would.")
        }
        guard !live || (question.isEmpty && !json) else {
            throw ValidationError("--live shows the whole file: leave out the record and --json.")
        }
        guard let server else { return }
        do throws(ServerAddress.Malformed) { _ = try ServerAddress(server) } catch {
            throw ValidationError("--server: \(error)")
        }
    }

    func run() async throws {
        guard !live else { return try await watch() }
        let inspection = try FileInspection(path: file)
        if question == ["rescued"] {
            let records = try inspection.lostRecords()
            print(json ? try InspectionText.json(records) : InspectionText.rescued(records))
        } else if let key = try key {
            let story = try inspection.story(key)
            print(json ? try InspectionText.json(story) : InspectionText.story(story))
        } else {
            let diagnostics = try inspection.diagnostics()
            print(json ? try InspectionText.json(diagnostics) : InspectionText.overview(diagnostics, now: Date()))
        }
    }

    private func watch() async throws {
        // A connection that the other side closes is an error of a call, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        let source = try await source()
        let environment = ProcessInfo.processInfo.environment
        if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" {
            try await LiveOnScreen.run(source, colours: environment["NO_COLOR"]?.isEmpty ?? true)
        } else {
            try await LiveInPipe(source: source).run()
        }
        try await source.close()
    }

    /// Returns the file: opened, if requested and no other process has it open.
    private func source() async throws -> any LiveSource {
        guard let server, let schema else { return ReadFile(path: file) }
        guard let bytes = FileManager.default.contents(atPath: schema) else {
            throw CommandFailure("cannot read the schema \(schema)")
        }
        do {
            let token = try await tokens.tokens { _ in "give the token of the file's account" }
            return try await ConnectedFile(
                path: file, schema: try Schema(json: Array(bytes)), server: server, trust: trust.trust,
                token: token)
        } catch let error as StoreError where error.code == .inUse {
            return ReadFile(path: file)
        }
    }

    /// The requested record.
    private var key: RecordKey? {
        get throws {
            guard let word = question.first, question != ["rescued"] else { return nil }
            guard word == "record", question.count == 3, let collection = question.dropFirst().first,
                let last = question.last
            else { throw ValidationError("Ask for a record by 'record COLLECTION ID', or for 'rescued'.") }
            guard let id = LocalID(last) else { throw ValidationError("'\(last)' is not a UUID.") }
            return RecordKey(collection: collection, id: id)
        }
    }
}
