import ArgumentParser
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkLock
import TidemarkModel
import TidemarkStore

/// `tidemark erase`: erases data from a database for good.
struct EraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erase data from a database for good, and from devices when they connect.",
        subcommands: [EraseScopeCommand.self, EraseUserCommand.self, EraseWorkspaceCommand.self])
}

/// `tidemark erase scope`.
struct EraseScopeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scope",
        abstract: "Erase a scope: its records, their history, its files and its memberships.",
        discussion: """
            All memberships end first, as if every member had been removed: connected devices, and others when they \
            connect, delete what they hold of the scope, with its files, and set aside their unsent writes. Then \
            everything of the scope is deleted, some hundred rows at a time. Only a backup can bring it back, and a \
            backup still holds all of it.

            Servers may go on serving from PostgreSQL, if all of them are of this version. A SQLite file belongs to \
            one process: stop its server first. That file is rewritten at the end, which needs space for a second one.

            After an interruption, even by kill -9, the next call does the rest. Deleting a record of an app is \
            something else: apps do that, and servers forget it after a while by themselves.

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
        try await options.carryOut { configuration, shell, isPlan in
            let job = ScopeErasure(
                configuration, scope: ScopeID(scope), workspace: WorkspaceID(options.workspace), by: shell)
            let report = ErasureReport("scope \(scope) of workspace \(options.workspace)")
            try await job.run(isPlan: isPlan, logger: .ofCommand) { report.tell($0) }
        }
    }
}

/// `tidemark erase user`.
struct EraseUserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Erase a user of a workspace: devices, memberships, files, and the user's name as an author.",
        discussion: """
            The user's client ids and memberships end, and lists of members no longer name the user. Scopes without \
            another member are erased. What the user wrote in other scopes stays, under a random author. Fields that \
            mention the user stay too: the app has to change or delete them before. Files that the user was the first \
            to put into a scope are deleted, and records that name them show none.

            Revoke the user's tokens first, or let them expire: a device that still has one comes back as a new \
            user's. The rules of 'tidemark erase scope' apply here too: servers on PostgreSQL go on, the server of a \
            SQLite file is stopped first, an interrupted run is continued by the next, and only a backup can bring the \
            data back.

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
        try await options.carryOut { configuration, shell, isPlan in
            let job = UserErasure(
                configuration, user: UserID(user), workspace: WorkspaceID(options.workspace), by: shell)
            let (name, report) = ("user \(user) of workspace \(options.workspace)", ErasureReport(""))
            try await job.run(isPlan: isPlan, logger: .ofCommand) { progress in
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
        }
    }
}

/// `tidemark erase workspace`.
struct EraseWorkspaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workspace",
        abstract: "Erase a workspace: everything in it, and its name for good.",
        discussion: """
            From the first moment on, the server refuses all users of the workspace. Devices that connect delete all \
            that they hold, whatever version of an app they have, and stop; they set aside their unsent writes. The \
            name stays refused, so that no device which returns years later fills the workspace again.

            The rules of 'tidemark erase scope' apply here too: servers on PostgreSQL go on with other workspaces, the \
            server of a SQLite file is stopped first, an interrupted run is continued by the next, and only a backup \
            can bring the data back. Also revoke the workspace's tokens, or let them expire.

            EXAMPLES
              tidemark erase workspace --workspace acme --plan
              tidemark erase workspace --workspace acme --yes
            """)

    @OptionGroup var options: EraseOptions

    func run() async throws {
        try await options.carryOut { configuration, shell, isPlan in
            let job = WorkspaceErasure(
                configuration, workspace: WorkspaceID(options.workspace), by: shell)
            let name = options.workspace
            let steps = Lock(0)
            try await job.run(isPlan: isPlan, logger: .ofCommand) { progress in
                switch progress {
                case .planned(let changes, let usage):
                    let blobs = "\(usage.blobs.counted("blob")) (\(usage.bytes.counted("byte")))"
                    print(
                        changes.map { "workspace \(name): \($0.counted("change")) so far, \(blobs)" }
                            ?? "workspace \(name): its erasure was begun before; \(blobs) left")
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
        }
    }
}

/// The options of all kinds of erasure.
struct EraseOptions: ParsableArguments {
    @Option(help: "The workspace.")
    var workspace: String

    @Flag(help: "Only show what would be erased.")
    var plan = false

    @Option(help: "The reason, for 'tidemark audit'.")
    var why = ""

    @Flag(help: "Erase. Without this and without --plan, the plan is shown and nothing is erased.")
    var yes = false

    @OptionGroup var place: DatabaseOption

    func validate() throws {
        guard WorkspaceID(checking: workspace) != nil else {
            throw ValidationError("--workspace must have 1 to 128 bytes and no control characters.")
        }
        if plan, yes { throw ValidationError("--plan changes nothing: leave out --yes.") }
    }

    /// Erases, or only shows the plan, and says what was not done.
    func carryOut(
        _ erase: (ServerConfiguration, ShellOperator, _ isPlan: Bool) async throws -> Void
    ) async throws {
        try await reporting {
            try await erase(try place.configuration(), ShellOperator(reason: why), plan || !yes)
            if plan { return print("Nothing was changed.") }
            guard yes else {
                throw CommandFailure("Nothing was changed. Erasing cannot be undone: say --yes to erase this.")
            }
        }
    }
}

/// Prints the plan, the progress now and then, and the result. Any thread.
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
        if plan.isBegun { print("\(subject): an earlier erasure was interrupted; still to erase:") }
        print(
            "\(subject): \(plan.members.counted("member")), \(counts.records.counted("record")) "
                + "(\(counts.bytes.counted("byte"))), \(counts.tombstones.counted("tombstone")), "
                + "\(counts.ledgerEntries) overwritten values, \(plan.blobs.blobs.counted("blob")) "
                + "(\(plan.blobs.bytes.counted("byte")) that no other scope has)")
        print("\(counts.bodies) batches of the workspace's log lose the content that is kept for other servers")
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
        case .records: "deleting records"
        case .blobs: "deleting blobs"
        case .readers: "waiting for another program that still reads the database file"
        case .files: "rewriting files that may still hold deleted data"
        case .done: "done"
        }
    }
}
