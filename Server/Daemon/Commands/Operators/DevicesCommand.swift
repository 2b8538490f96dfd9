import ArgumentParser
import Foundation
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel
import TidemarkOperations

/// `tidemark devices`: lists devices, and signs them out.
struct DevicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List devices of a running server, and sign out a device, a user or a workspace.",
        discussion: """
            EXAMPLES
              tidemark devices list --workspace acme --secret-file token_secret
              tidemark devices list --workspace acme --user ann --dev
              tidemark devices revoke 018f3a2b-0000-7000-8000-000000000001 --workspace acme --dev
              tidemark devices revoke --user ann --workspace acme --dev
              tidemark devices purge 018f3a2b-0000-7000-8000-000000000001 --workspace acme --dev
            """,
        subcommands: [List.self, Revoke.self, Purge.self])
}

/// The workspace, and the running server.
struct DeviceOptions: ParsableArguments {
    @OptionGroup var place: AdminWorkspace
    @OptionGroup var server: OperatorOptions

    var workspace: String { place.workspace }

    /// Sends a revocation and prints the answer.
    func revoke(_ members: Fields, _ what: String, why: String) async throws {
        var call = members
        call["workspace"] = .string(workspace)
        if !why.isEmpty { call["why"] = .string(why) }
        let answer = try await server.call("POST", "/v1/revocations", body: call.canonicalBytes)
        guard case .integer(let time)? = answer["not_before"] else {
            throw CommandFailure("the server's answer does not say which tokens are revoked")
        }
        print("\(what) signed out of \(workspace): tokens from before \(DevicesCommand.day(time)) are refused")
        guard answer["known"] != .boolean(false) else {
            let whose = call.text("user").map { "of the user \"\($0.withoutSteering)\" " } ?? ""
            throw CommandFailure(
                "no device \(whose)is known in the workspace \"\(workspace.withoutSteering)\": are the names right? The"
                    + " revocation is kept nevertheless")
        }
    }
}

extension DevicesCommand {
    static func day(_ time: Milliseconds) -> String {
        Date(timeIntervalSince1970: Double(time) / 1_000).formatted(.iso8601)
    }

    /// A device's id on the command line.
    struct DeviceID: ExpressibleByArgument {
        let id: UniqueID
        init?(argument: String) {
            guard let id = UniqueID(argument) else { return nil }
            self.id = id
        }
    }

    /// `tidemark devices list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Print the devices of a workspace, one a line.",
            discussion: """
                Columns, separated by tabs: id, user, app as last reported, time when it was last seen (noted every 15 \
                minutes), its settled writes, outcomes that it has not confirmed, time from which its tokens are \
                accepted if some were revoked, its unsent writes at its last connection, and how many changes it was \
                behind then; - is unknown.

                The server asks the others that serve the workspace. If some of them do not answer, a sentence on \
                standard error says so, and the last reports of their devices may be missing.
                """)

        @Option(help: "Only those of this user.")
        var user: String?

        @OptionGroup var options: DeviceOptions

        func run() async throws {
            var (cursor, silence) = (nil as String?, nil as String?)
            repeat {
                let answer = try await options.server.call("GET", path(after: cursor))
                guard case .array(let devices)? = answer["devices"] else {
                    throw CommandFailure("the server's answer has no list of devices")
                }
                silence = Self.silence(answer) ?? silence
                cursor = nil
                for case .object(let device) in devices {
                    print(Self.line(device))
                    if answer["more"] == .boolean(true) { cursor = device.text("id") }
                }
            } while cursor != nil
            if let silence { FileHandle.standardError.write(Data((silence + "\n").utf8)) }
        }

        /// Returns the sentence about servers that did not answer; `nil` if all did.
        static func silence(_ answer: Fields) -> String? {
            let (servers, silent) = (answer.number("servers") ?? 1, answer.number("silent") ?? 0)
            return WhyFacts.silence(Int(clamping: silent), of: Int(clamping: max(servers, 1) - 1))
        }

        private func path(after cursor: String?) -> String {
            OperatorCall.path("/v1/devices", [("workspace", options.workspace), ("user", user), ("after", cursor)])
        }

        private static func line(_ device: Fields) -> String {
            let (settled, acked) = (device.number("settled") ?? 0, device.number("acked") ?? 0)
            let columns = [
                device.word("id"), device.word("user"), device.word("app"), device.day("seen"), "\(settled)",
                "\(max(0, settled - acked))", device.day("revoked"), device.word("pending"), device.word("lag"),
            ]
            return columns.joined(separator: "\t")
        }
    }

    /// `tidemark devices revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "Refuse all tokens issued until now: of a device, of a user, or of all.",
            discussion: """
                Connections end on every server within a second, and calls, files and polls are answered by 401. A \
                token that is issued later is accepted again: end the session at the sign-in service first, or the \
                device fetches another token.

                Exit status 1 says that the server knows no device of that user, or of that workspace: check the \
                names. The revocation is kept nevertheless.

                A token names no device. So earlier tokens of the user can no longer register devices, and read \
                nothing by calls that name no device; the user's other devices stay connected.
                """)

        @Argument(help: ArgumentHelp("The device, as 'tidemark devices list' names it.", valueName: "id"))
        var device: DeviceID?

        @Option(help: "All devices of this user; with a device, the user that it must belong to.")
        var user: String?

        @Flag(
            name: .customLong("all"),
            help: "Every token of the workspace. Apps fetch new ones, and no user has to sign in again.")
        var isWorkspace = false

        @Option(help: "The reason, for 'tidemark audit'.")
        var why = ""

        @OptionGroup var options: DeviceOptions

        func validate() throws {
            guard isWorkspace != (device != nil || user != nil) else {
                throw ValidationError("Name a device, or give --user, or --all.")
            }
        }

        func run() async throws {
            var members = Fields()
            if let device { members["client"] = .string("\(device.id)") }
            if let user { members["user"] = .string(user) }
            if isWorkspace { members["all"] = true }
            try await options.revoke(
                members, device.map { "device \($0.id)" } ?? user.map { "user \($0)" } ?? "everybody", why: why)
        }
    }

    /// `tidemark devices purge`.
    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "purge",
            abstract: "Sign a device out, and forget it.",
            discussion: """
                Revokes like 'revoke', then deletes the device's registration and everything kept for it. If the \
                device comes back with a later token, it takes a new id and shows its user which of its writes may be \
                applied twice.
                """)

        @Argument(help: ArgumentHelp("The device, as 'tidemark devices list' names it.", valueName: "id"))
        var device: DeviceID

        @Option(help: "The reason, for 'tidemark audit'.")
        var why = ""

        @OptionGroup var options: DeviceOptions

        func run() async throws {
            try await options.revoke(
                ["client": .string("\(device.id)"), "purge": true], "device \(device.id) is forgotten and", why: why)
        }
    }
}
