import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkEdge
import TidemarkIdentity
import TidemarkModel
import TidemarkNIOTransport

/// The demo, from the empty folder to the verdict.
struct DemoRun: Sendable {
    /// The parameters of a run.
    struct Plan: Sendable {
        var messages = 5_000
        var devices = 8
        var kills = 6
        var nodes = 1
        var seed: UInt64 = 1
        /// The database; `nil` is a new SQLite file.
        var database: String?
        /// The folder; `nil` is a temporary one.
        var folder: String?
        /// The URL of a proxy to which all devices connect, instead of each to a server.
        var through: String?
        /// PEM file of the authority of the proxy's certificate; `nil` for the system's.
        var trustRootsFile: String?
        /// The first port of the servers, which use it and the following ones; `nil` for free ones.
        var firstPort: Int?
    }

    /// The outcome.
    struct Result: Sendable {
        let verdict: Verdict
        let latencies: LatencyLog
        let kills: Int
        let conversations: Int
        let elapsed: Duration
    }

    /// The longest time, after the play, until every outbox is empty and every copy complete.
    static let settlingMax: Duration = .seconds(120)

    let plan: Plan
    let script: ChatScript
    let progress: DemoProgress

    func run() async throws -> Result {
        let began = ContinuousClock.now
        let temporary = plan.folder == nil ? try TemporaryFolder("tidemark-demo") : nil
        // The folder is deleted with the last reference to it, so this function must keep one until its end.
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary?.path ?? plan.folder ?? "."
        let workspace = WorkspaceID("demo-\(wallClock())")
        let (secret, secretText) = try TokenSecret.random()
        let database = plan.database ?? "sqlite:\(folder)/server.sqlite"
        var settings = ServerProcess.Settings(
            database: database, schema: try ServerProcess.chatSchema(in: folder), secret: secretText)
        // Devices that were offline send all their stored writes at once.
        settings.environment = ["TIDEMARK_LIMIT_RATE": "100000", "TIDEMARK_LIMIT_BURST": "100000"]
        let backstage = try await Backstage.start(settings, nodes: plan.nodes, firstPort: plan.firstPort)
        let notebook = Notebook()
        let company = try await gather(in: folder, workspace, secret, backstage)
        try await act(company, backstage, notebook)
        for device in company.devices { await device.goOffline() }
        progress.say("stopping the servers and comparing every copy with the server's rows")
        try await backstage.stop()
        let written = notebook.written
        let truth = try await ServerTruth.read(
            Array(Set(written.map(\.conversation))), in: workspace, database: database)
        var copies: [DeviceCopy] = []
        for device in company.devices { copies.append(try await device.copy()) }
        return Result(
            verdict: Verdict(
                written: written, server: truth.messages, conversations: truth.conversations, devices: copies),
            latencies: notebook.latencies, kills: backstage.killed, conversations: truth.conversations.count,
            elapsed: ContinuousClock.now - began)
    }

    /// Opens the devices and connects them.
    private func gather(
        in folder: String, _ workspace: WorkspaceID, _ secret: TokenSecret, _ backstage: Backstage
    ) async throws -> Company {
        let schema = try ChatSchema.schema()
        let issuer = await TokenIssuer(secret: secret, now: wallClock)
        let urls = plan.through.map { [$0] } ?? backstage.urls
        let transport = NIOTransport(trustRootsFile: plan.trustRootsFile)
        var devices: [DemoDevice] = []
        for index in 0..<plan.devices {
            let user = "device-\(index + 1)"
            let store = try await SyncStore.open(
                account: UserID(user), at: URL(fileURLWithPath: folder).appendingPathComponent(user), schema: schema)
            devices.append(
                DemoDevice(
                    index: index, user: user, store: store, url: urls[index % urls.count],
                    transport: NodeChoice(urls, first: index, over: transport)
                ) {
                    try issuer.issue(user: user, workspace: workspace.text, lifetime: .seconds(3_600))
                })
        }
        for device in devices { try device.goOnline() }
        return Company(devices: devices)
    }

    /// Plays, with an audience and a progress line, until all devices have everything.
    private func act(_ company: Company, _ backstage: Backstage, _ notebook: Notebook) async throws {
        let player = Player(
            company: company, backstage: backstage, notebook: notebook,
            mishaps: Mishaps(
                messages: plan.messages, devices: plan.devices, kills: plan.kills, seed: plan.seed),
            seed: plan.seed, began: wallClock())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Audience(company: company, notebook: notebook).watch() }
            group.addTask {
                try await progress.show(total: plan.messages, company, backstage, notebook)
            }
            try await player.play(script)
            progress.say("the play is over; waiting for every outbox to empty and every copy to be complete")
            for device in company.devices { try device.goOnline() }
            try await settle(company, notebook)
            group.cancelAll()
            // Both end with their cancellation, in whatever way.
            while await group.nextResult() != nil {}
        }
        progress.end()
    }

    private func settle(_ company: Company, _ notebook: Notebook) async throws {
        let isSettled = try await eventually(atMost: Self.settlingMax) {
            let pending = try company.pending()
            return company.liveCount == company.devices.count && pending == 0
        }
        guard isSettled else {
            throw CommandFailure(
                "after \(Self.settlingMax) \(try company.pending()) transactions wait, "
                    + "\(company.liveCount) of \(company.devices.count) devices are live")
        }
        let expected = Dictionary(notebook.written.map { ($0.conversation, 1) }, uniquingKeysWith: +)
        // Anything still missing after this is reported by the verdict.
        _ = try await eventually(atMost: Self.settlingMax / 4) {
            for device in company.devices {
                for (conversation, count) in expected where try await device.has(conversation) {
                    guard try await device.messageCount(in: conversation) == count else { return false }
                }
            }
            return true
        }
    }
}
