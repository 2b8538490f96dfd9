import ArgumentParser
import Foundation
import Tidemark
import TidemarkModel

/// `tide inspect`: a device's database from outside.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what a device's database knows: outbox, refused writes, scopes, or one record's story.",
        discussion: """
            Reads the SQLite file of an app that uses the SDK and changes nothing; the app may be running.

            EXAMPLES
              tide inspect ann-1f2e.sqlite
              tide inspect ann-1f2e.sqlite --json > report.json
              tide inspect ann-1f2e.sqlite \\
                  record messages 018f3a2b-0000-7000-8000-000000000002
              tide inspect ann-1f2e.sqlite rescued
            """)

    @Argument(help: "The device's SQLite file.")
    var file: String

    @Argument(
        help: ArgumentHelp(
            "'record COLLECTION ID' for one record: what is shown, what the server said, what is pending or was refused. "
                + "'rescued' for records that the server lost when its database went back.",
            valueName: "record"))
    var question: [String] = []

    @Flag(help: "Print the answer as JSON. Without a record it holds no field values.")
    var json = false

    func validate() throws { _ = try key }

    func run() throws {
        let inspection = try FileInspection(path: file)
        if question == ["rescued"] {
            let records = try inspection.rescued()
            print(json ? try InspectionText.json(records) : InspectionText.rescued(records))
        } else if let key = try key {
            let story = try inspection.story(key)
            print(json ? try InspectionText.json(story) : InspectionText.story(story))
        } else {
            let diagnostics = try inspection.diagnostics()
            print(json ? try InspectionText.json(diagnostics) : InspectionText.overview(diagnostics, now: Date()))
        }
    }

    /// The record that is asked for.
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
