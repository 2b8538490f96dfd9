import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkLock
import TidemarkModel
import TidemarkStore

/// `tidemark compact`: compacts one workspace now, as a server does by itself.
struct CompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Forget old deletions of a workspace, or show what would be forgotten.",
        discussion: """
            A server does it by itself, a little at a time, for deletions older than KEEP_DAYS (90 days). This command \
            takes a shorter time once, or sets one for a workspace.

            Files that no record names are deleted in three steps, whatever time is given. The first call finds them, \
            a call after at least a week withdraws them, and one a day later deletes them.

            A device that was away for longer fetches its scopes anew when it comes back; its unsent writes stay.

            Servers may go on serving from PostgreSQL. A SQLite file belongs to one process: stop its server first.

            EXAMPLES
              tidemark compact --workspace acme --plan
              tidemark compact --workspace acme --older-than 30d
              tidemark compact --workspace acme --keep 365d     and forget nothing now
              tidemark compact --workspace acme --keep default
              tidemark compact --workspace acme --trust-clock   after the server was off for weeks
            """)

    @Option(help: "The workspace.")
    var workspace: String

    @Option(
        help: ArgumentHelp(
            "Forget deletions older than this, at least 1h: a number with h or d. (default: the workspace's own)",
            valueName: "time"))
    var olderThan: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Only set how long this workspace keeps deletions: a number with h or d, or 'default'.",
            valueName: "time"))
    var keep: String?

    @Flag(
        help: """
            Trust this machine's clock, although the database was not used for more than a day. Servers then trust it \
            too.
            """)
    var trustClock = false

    @Option(help: "The reason, for 'tidemark audit'.")
    var why = ""

    @Flag(help: "Only show what would be forgotten.")
    var plan = false

    @OptionGroup var place: DatabaseOption

    /// Nodes read the order once a second: an hour is far behind all of them.
    private static let keepMin = Duration.seconds(3_600)

    func validate() throws {
        guard WorkspaceID(checking: workspace) != nil else {
            throw ValidationError("--workspace must have 1 to 128 bytes and no control characters.")
        }
        if let olderThan, olderThan.duration < Self.keepMin { throw ValidationError("--older-than is at least 1h.") }
        _ = try keptTime()
        if keep != nil, plan || olderThan != nil {
            throw ValidationError("--keep forgets nothing now: leave out --plan and --older-than.")
        }
    }

    /// The time in milliseconds; an inner `nil` is the server's default.
    private func keptTime() throws -> Int64?? {
        guard let keep else { return nil }
        if keep == "default" { return .some(nil) }
        guard let span = TimeSpan(argument: keep), span.duration >= Self.keepMin else {
            throw ValidationError("--keep is 'default' or at least 1h: a number with h or d, such as 30d.")
        }
        return .some(span.duration.components.seconds * 1_000)
    }

    func run() async throws {
        try await reporting {
            let job = WorkspaceCompaction(
                try place.configuration(), workspace: WorkspaceID(workspace),
                keep: olderThan.map { $0.duration.components.seconds * 1_000 }, trustsClock: trustClock,
                by: ShellOperator(reason: why))
            if let time = try keptTime() {
                try await job.setKeep(time, logger: .ofCommand)
                print("\(workspace) keeps deletions for \(keep ?? "") from now on.")
                return
            }
            let report = CompactionReport(workspace: workspace, isPlan: plan)
            try await job.run(isPlan: plan, logger: .ofCommand) { report.tell($0) }
            report.end()
        }
    }
}

/// Prints the plan, the progress now and then, and the result.
private final class CompactionReport: Sendable {
    private static let tellEvery = 100
    private let workspace: String
    private let isPlan: Bool
    private let state = StepCount()

    init(workspace: String, isPlan: Bool) {
        self.workspace = workspace
        self.isPlan = isPlan
    }

    func tell(_ progress: WorkspaceCompaction.Progress) {
        switch progress {
        case .planned(let plan, let time):
            let day = Date(timeIntervalSince1970: Double(time) / 1_000).formatted(.iso8601)
            print("workspace \(workspace): \(plan.head) changes, horizon at \(plan.horizon)")
            print(
                "deleted before \(day): \(plan.tombstones) tombstones; \(plan.batches) batches; "
                    + "horizon to \(plan.target)")
            if isPlan {
                print("Nothing was changed. A device that was away since \(day) would fetch its scopes anew.")
            }
        case .stepped(let all):
            let steps = state.step(all)
            if steps % Self.tellEvery == 0 { print("  \(all.rows) rows so far") }
        case .steppedBlobs(let all):
            if state.step(all) % Self.tellEvery == 0 { print("  \(all.taken.blobs) files so far") }
        }
    }

    func end() {
        guard !isPlan, let all = state.last else { return }
        print(
            "done: \(all.tombstones) tombstones, \(all.scopeRecords) records of deleted scopes, \(all.batches) batches, "
                + "\(all.ledgerEntries) ledger entries")
        guard let blobs = state.lastOfBlobs else { return }
        print(
            "files that no record names: \(blobs.unnamed) found, \(blobs.withdrawn) withdrawn, \(blobs.taken.blobs)"
                + " deleted (\(blobs.taken.bytes) bytes)")
    }
}

/// Counts steps. Any thread.
private final class StepCount: Sendable {
    private struct State {
        var count = 0
        var last: CompactionStep?
        var lastOfBlobs: BlobCompactionStep?
    }

    private let state = Lock(State())

    var last: CompactionStep? { state.withLock { $0.last } }
    var lastOfBlobs: BlobCompactionStep? { state.withLock { $0.lastOfBlobs } }

    func step(_ all: CompactionStep) -> Int {
        state.withLock { state in
            state.count += 1
            state.last = all
            return state.count
        }
    }

    func step(_ all: BlobCompactionStep) -> Int {
        state.withLock { state in
            state.count += 1
            state.lastOfBlobs = all
            return state.count
        }
    }
}
