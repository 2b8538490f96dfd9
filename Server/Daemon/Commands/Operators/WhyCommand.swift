import ArgumentParser
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel

/// `tidemark why`: explains why a user does not see a record, or what a device is stuck on.
struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain why a user does not see a record, or what a device is stuck on.",
        discussion: """
            One story: whether the record lives and in which scope, which memberships the user has and had, with their \
            numbers, what each of the user's devices was sent, which of their writes were refused, and which values \
            were overwritten unseen. Its last line is the answer.

            The server asks the others that serve the workspace, and the story says how many did not answer. Refusals \
            that devices have confirmed are only those of the server that is asked. Of a device's own outbox a server \
            knows only the size that the device reported last.

            EXAMPLES
              tidemark why --user bob --record messages/018f3a2b-0000-7000-8000-000000000001 --workspace acme \\
                  --admin-token-file admin_tokens
              tidemark why --device 018f3a2b-0000-7000-8000-000000000001 --workspace acme --dev
            """)

    @Option(help: "The user.")
    var user: String?

    @Option(help: ArgumentHelp("The record, as COLLECTION/ID or by its id alone.", valueName: "record"))
    var record: String?

    @Option(help: ArgumentHelp("The device, as 'tidemark devices list' names it.", valueName: "id"))
    var device: DevicesCommand.DeviceID?

    @OptionGroup var place: AdminWorkspace
    @OptionGroup var admin: AdminOptions

    func validate() throws {
        guard (device != nil) != (user != nil && record != nil), device == nil || (user == nil && record == nil) else {
            throw ValidationError("Give --user and --record, or --device.")
        }
    }

    func run() async throws {
        let workspace = ("workspace", place.workspace as String?)
        let answer =
            if let device {
                try await admin.call("device", [workspace, ("client", "\(device.id)")])
            } else {
                try await admin.call("why", [workspace, ("user", user), ("record", record)])
            }
        guard !admin.printsJSON(answer) else { return }
        print((answer.text("text") ?? "").linesWithoutSteering)
    }
}

/// `tidemark may`: tries the access rules.
struct MayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "may",
        abstract: "Say whether a user may write something, without writing it.",
        discussion: """
            The answer comes from the code that judges every write, on the records of this moment.

            Exit status: 0 the user may, 1 the user may not.

            EXAMPLES
              tidemark may --user ann update messages/018f3a2b-0000-7000-8000-000000000001 --fields '{"text":"hi"}' --dev
              tidemark may --user ann delete messages/018f3a2b-0000-7000-8000-000000000001 --dev
            """)

    enum Action: String, CaseIterable, ExpressibleByArgument {
        case create, update, delete, undelete
    }

    @Argument(help: "create, update, delete or undelete.")
    var action: Action

    @Argument(help: ArgumentHelp("The record, as COLLECTION/ID.", valueName: "record"))
    var record: String

    @Option(help: "The user.")
    var user: String

    @Option(help: ArgumentHelp("The fields, JSON; an update removes those that are null.", valueName: "json"))
    var fields = "{}"

    @Flag(help: "As a program of the operator's.")
    var service = false

    @OptionGroup var place: AdminWorkspace
    @OptionGroup var admin: AdminOptions

    func validate() throws {
        guard record.split(separator: "/", omittingEmptySubsequences: false).count == 2 else {
            throw ValidationError("The record is named COLLECTION/ID.")
        }
        // The parser's reason is left out: the operator wrote the text.
        guard (try? JSONReader.read(Array(fields.utf8), { try $0.fields() })) != nil else {
            throw ValidationError("--fields must be a JSON object.")
        }
    }

    func run() async throws {
        let parts = record.split(separator: "/").map(String.init)
        var call: Fields = [
            "workspace": .string(place.workspace), "user": .string(user), "action": .string(action.rawValue),
            "collection": .string(parts.first ?? ""), "record": .string(parts.last ?? ""),
        ]
        if service { call["service"] = true }
        call["fields"] = .object(try JSONReader.read(Array(fields.utf8)) { try $0.fields() })
        let answer = try await admin.call("may", body: call.canonicalBytes)
        if !admin.printsJSON(answer) {
            print((answer.text("sentence") ?? "").withoutSteering)
            if let record = answer["would_be"] { print("the record would be \(record.json.withoutSteering)") }
        }
        if answer["may"] != .boolean(true) { throw ExitCode(1) }
    }
}
