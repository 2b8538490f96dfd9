import ArgumentParser
import Foundation
import Logging
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkLock
import TidemarkModel
import TidemarkStore

/// `tidemark erase`: what must not be kept, taken out of a database for good.
struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Take what must not be kept out of a database for good, and off the devices that come.",
        subcommands: [EraseScopeCommand.self, EraseUserCommand.self, EraseWorkspaceCommand.self])
}

/// `tidemark erase scope`.
struct EraseScopeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scope",
        abstract: "Erase a scope: its records, their history, its files and its memberships.",
        discussion: """
            All memberships end first, as if somebody had taken everybody out: devices that are connected, or come later, \
            delete what they hold of the scope, with its files, and set aside what they had not sent. Then everything of it \
            goes, some hundred rows at a time. There is no way back but a backup, which still has all of it.

            Servers may go on serving from PostgreSQL, if all of them are of this version. A file of SQLite belongs to one \
            program: stop its server first. That file is written anew at the end, which takes room for a second one.

            Cut short, even by kill -9, it does the rest when it is called again. Deleting a record of an app is something \
            else: apps do that, and servers forget it after a while by themselves.

            EXAMPLES
              tidemark erase scope ID --workspace acme --plan
              tidemark erase scope ID --workspace acme --yes
            """)

    @Argument(help: "The scope: the id of the record that opened it, such as a conversation's.")
    var scope: String

    @OptionGroup var options: EraseOptions

    func validate() throws {
        guard ScopeID(checking: scope) != nil else {
            throw ValidationError("The scope must have 1 to 128 bytes and no control characters.")
        }
    }

    func run() async throws {
        do {
            let job = ScopeErasure(
                try options.configuration(), scope: ScopeID(scope), workspace: WorkspaceID(options.workspace),
                by: ShellOperator(reason: options.why))
            var logger = Logger(label: "tidemark") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .warning
            let report = ErasureReport("scope \(scope) of workspace \(options.workspace)")
            try await job.run(isPlan: options.plan || !options.yes, logger: logger) { report.tell($0) }
            if options.plan { return print("Nothing was changed.") }
            guard options.yes else {
                throw CommandFailure("Nothing was changed. There is no way back: say --yes to erase this.")
            }
        } catch let error as CommandFailure {
            throw error
        } catch let error as ValidationError {
            throw error
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}

/// `tidemark erase user`.
struct EraseUserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Erase a user of a workspace: devices, memberships, files, and the name of who wrote what.",
        discussion: """
            The user's client ids and memberships end, and the lists of members name them no more. Scopes that nobody else is \
            a member of are erased. What the user wrote in others stays, with an author by chance that leads nowhere, and so \
            does what records say of the user in their fields: that is for the app to change or delete before. Files that \
            the user put into a scope first go, and records that name them show none.

            Revoke the user's tokens first, or let them end: a device that still has one comes back as a new user's. What \
            holds for 'tidemark erase scope' holds here: servers on PostgreSQL go on, the server of a file is stopped first, \
            a kill costs nothing, and there is no way back but a backup.

            EXAMPLES
              tidemark erase user ann --workspace acme --plan
              tidemark erase user ann --workspace acme --yes
            """)

    @Argument(help: "The user, as tokens name them.")
    var user: String

    @OptionGroup var options: EraseOptions

    func validate() throws {
        guard UserID(checking: user) != nil else {
            throw ValidationError("The user must have 1 to 128 bytes and no control characters.")
        }
    }

    func run() async throws {
        do {
            let job = UserErasure(
                try options.configuration(), user: UserID(user), workspace: WorkspaceID(options.workspace),
                by: ShellOperator(reason: options.why))
            var logger = Logger(label: "tidemark") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .warning
            let (name, report) = ("user \(user) of workspace \(options.workspace)", ErasureReport(""))
            try await job.run(isPlan: options.plan || !options.yes, logger: logger) { progress in
                switch progress {
                case .planned(let plan):
                    print(
                        "\(name): \(plan.clients.counted("client")), \(plan.memberships.counted("membership")), author of "
                            + plan.records.counted("record"))
                case .progressed(let all) where all.phase == .done:
                    print(
                        "done: \(all.clients.counted("client")), \(all.ends.counted("membership")), "
                            + "\(all.renamed.counted("record")) with another author, "
                            + "\(all.step.records.counted("record")) of scopes of the user's own, "
                            + all.blobs.blobs.counted("blob"))
                case .progressed(let all): report.tell(.progressed(all))
                }
            }
            if options.plan { return print("Nothing was changed.") }
            guard options.yes else {
                throw CommandFailure("Nothing was changed. There is no way back: say --yes to erase this.")
            }
        } catch let error as CommandFailure {
            throw error
        } catch let error as ValidationError {
            throw error
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}

/// `tidemark erase workspace`.
struct EraseWorkspaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workspace",
        abstract: "Erase a workspace: everything that it has, and its name for good.",
        discussion: """
            From the first moment on nobody is served any more in it. Devices that come delete all that they hold, whatever \
            version of an app they have, and are told to stop; what they had not sent they set aside. The name stays refused, \
            so that no device which comes in years fills it again.

            What holds for 'tidemark erase scope' holds here: servers on PostgreSQL go on with other workspaces, the server \
            of a file is stopped first, a kill costs nothing, and there is no way back but a backup. Revoke the workspace's \
            tokens besides, or let them end.

            EXAMPLES
              tidemark erase workspace --workspace acme --plan
              tidemark erase workspace --workspace acme --yes
            """)

    @OptionGroup var options: EraseOptions

    func run() async throws {
        do {
            let job = WorkspaceErasure(
                try options.configuration(), workspace: WorkspaceID(options.workspace),
                by: ShellOperator(reason: options.why))
            var logger = Logger(label: "tidemark") { StreamLogHandler.standardError(label: $0) }
            logger.logLevel = .warning
            let name = options.workspace
            let steps = Lock(0)
            try await job.run(isPlan: options.plan || !options.yes, logger: logger) { progress in
                switch progress {
                case .planned(let changes, let usage):
                    let blobs = "\(usage.blobs.counted("blob")) (\(usage.bytes.counted("byte")))"
                    print(
                        changes.map { "workspace \(name): \($0.counted("change")) so far, \(blobs)" }
                            ?? "workspace \(name): its erasure was begun; \(blobs) left")
                case .progressed(let rows, let blobs):
                    let count = steps.withLock { steps in
                        steps += 1
                        return steps
                    }
                    if count % 100 == 0 { print("  \(rows.counted("row")), \(blobs.blobs.counted("blob")) so far") }
                case .done(let rows, let blobs):
                    print("done: \(rows.counted("row")), \(blobs.blobs.counted("blob"))")
                }
            }
            if options.plan { return print("Nothing was changed.") }
            guard options.yes else {
                throw CommandFailure("Nothing was changed. There is no way back: say --yes to erase this.")
            }
        } catch let error as CommandFailure {
            throw error
        } catch let error as ValidationError {
            throw error
        } catch {
            throw CommandFailure("\(error)")
        }
    }
}

/// What all kinds of erasure are told.
struct EraseOptions: ParsableArguments {
    @Option(help: "The workspace.")
    var workspace: String

    @Flag(help: "Only show what would go.")
    var plan = false

    @Option(help: "Why, for 'tidemark audit'.")
    var why = ""

    @Flag(help: "Do it. Without this, and without --plan, it is shown and refused.")
    var yes = false

    @Option(
        help: """
            Where the records are: sqlite:PATH or postgres://user@host/name. (environment: TIDEMARK_DATABASE; default: \
            \(ServeCommand.defaultDatabase))
            """)
    var database: String?

    func validate() throws {
        guard WorkspaceID(checking: workspace) != nil else {
            throw ValidationError("--workspace must have 1 to 128 bytes and no control characters.")
        }
        if plan, yes { throw ValidationError("--plan changes nothing: leave out --yes.") }
    }

    func configuration() throws -> ServerConfiguration {
        let environment = ProcessInfo.processInfo.environment
        // It listens nowhere, whatever the server's environment says.
        var overrides: [Setting: String] = [.development: "1", .developmentReachable: "1"]
        overrides[.database] = database
        let configuration = try ServerConfiguration(environment: environment, overrides: overrides)
        // A typing error would make a new one.
        if case .sqlite(let path) = configuration.database, !FileManager.default.fileExists(atPath: path) {
            throw CommandFailure("\(path) is not there")
        }
        return configuration
    }
}

/// What is printed: what is there, now and then how far it is, the end. Any thread.
private final class ErasureReport: Sendable {
    private static let tellEvery = 100
    private let subject: String
    private let state = Lock<(steps: Int, phase: Eraser.Phase?)>((0, nil))

    init(_ subject: String) { self.subject = subject }

    func tell(_ progress: ScopeErasure.Progress) {
        switch progress {
        case .planned(let plan): tell(plan)
        case .progressed(let all): tell(all)
        }
    }

    private func tell(_ plan: ScopeErasure.Plan) {
        let counts = plan.counts
        if plan.isBegun { print("\(subject): its erasure was begun and not ended; what is left:") }
        print(
            "\(subject): \(plan.members.counted("member")), \(counts.records.counted("record")) "
                + "(\(counts.bytes.counted("byte"))), \(counts.tombstones.counted("tombstone")), "
                + "\(counts.ledgerEntries) overwritten values, \(plan.blobs.blobs.counted("blob")) "
                + "(\(plan.blobs.bytes.counted("byte")) that no other scope has)")
        print("\(counts.bodies) batches of the workspace's log lose what is kept of them for other servers")
    }

    private func tell(_ all: Eraser.Progress) {
        let (steps, isNew) = state.withLock { state in
            let isNew = state.phase != all.phase
            state = (state.steps + 1, all.phase)
            return (state.steps, isNew)
        }
        if all.phase == .done {
            print(
                "done: \(all.ends.counted("membership")) ended, \(all.step.records.counted("record")), "
                    + "\(all.step.ledgerEntries) overwritten values, \(all.blobs.blobs.counted("blob"))")
        } else if isNew {
            print("  \(all.phase.doing)")
        } else if steps % Self.tellEvery == 0 {
            print("  \(all.ends) memberships, \(all.step.records) records, \(all.blobs.blobs) blobs so far")
        }
    }
}

extension Eraser.Phase {
    fileprivate var doing: String {
        switch self {
        case .members: "ending memberships"
        case .records: "taking away records"
        case .blobs: "taking away blobs"
        case .readers: "waiting until another program has read what it reads of the database file"
        case .files: "writing files anew where they may hold what was deleted"
        case .done: "done"
        }
    }
}
