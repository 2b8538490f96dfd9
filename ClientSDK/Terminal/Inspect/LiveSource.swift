import Foundation
import Logging
import Tidemark
import TidemarkCommandLine
import TidemarkModel
import TidemarkNIOTransport

/// Reads the state that the screen shows, and executes commands.
protocol LiveSource: Sendable {
    /// - Throws: the file's error when it cannot be read.
    func look() async throws -> LiveLook
    /// Executes a confirmed button.
    ///
    /// - Returns: a sentence about the result.
    func press(_ button: LiveButton) async -> String
    func close() async throws
}

/// A file that is only read, even if another process has it open.
struct ReadFile: LiveSource {
    let path: String

    /// Opens the file for each look: the app may have replaced it.
    func look() async throws -> LiveLook {
        var rows = [LiveLook.Row(title: "File", value: path)]
        if let holder = FileHolder(of: path) {
            rows.append(LiveLook.Row(title: "Open in", value: "\(holder)"))
            rows.append(LiveLook.Row(title: "Sync", value: "only that process knows it, and its observations"))
        } else {
            rows.append(LiveLook.Row(title: "Open in", value: "no process"))
            rows.append(LiveLook.Row(title: "Sync", value: "not connected"))
        }
        return LiveLook(rows: rows, diagnostics: try FileInspection(path: path).diagnostics())
    }

    func press(_ button: LiveButton) async -> String {
        if let holder = FileHolder(of: path) {
            return "\(holder) has the file open: use the developer's screen of that app, or end it first."
        }
        return "The file is only read: give --server and --schema to open it and connect."
    }

    func close() async throws {}
}

/// A store that was opened to be inspected: the developer's screen of an app, in a terminal.
struct ConnectedFile: LiveSource {
    private let store: SyncStore
    private let screen: DeveloperScreen

    /// Opens the file as its app would, and connects.
    ///
    /// - Throws: `CommandFailure` for a schema that is not the file's: opening with another one would change the
    ///   tables. `StoreError` with `inUse` while another process has the file open.
    init(
        path: String, schema: Schema, server: String, trust: String? = nil,
        token: @escaping @Sendable (_ user: String) throws -> String
    ) async throws {
        let diagnostics = try FileInspection(path: path).diagnostics()
        try Self.check(schema, diagnostics)
        let user = diagnostics.account
        _ = try token(user)
        store = try await SyncStore.open(account: UserID(user), file: path, schema: schema)
        try store.connect(to: server, transport: NIOTransport(trustRootsFile: trust), logger: .silent) {
            try token(user)
        }
        screen = await DeveloperScreen(store)
    }

    /// Checks that the file matches the app's schema: opening a file with another schema changes it.
    static func check(_ schema: Schema, _ diagnostics: Diagnostics) throws(CommandFailure) {
        guard schema.version == diagnostics.schemaVersion else {
            throw CommandFailure(
                """
                the file was last opened with version \(diagnostics.schemaVersion) of its schema, and --schema is \
                version \(schema.version): give the one of the app that wrote the file
                """)
        }
        let (there, said) = (
            Set(diagnostics.collections.map(\.name)), Set(schema.collections.map(\.name))
        )
        guard there == said else {
            throw CommandFailure(
                """
                the file has the collections \(there.sorted().joined(separator: ", ")), and --schema names \
                \(said.sorted().joined(separator: ", ")): give the schema of the app that wrote the file
                """)
        }
    }

    func look() async throws -> LiveLook {
        let diagnostics = try await screen.look()
        var rows = await screen.lines.map { line in
            LiveLook.Row(title: line.title, value: line.value, isAlarming: line.isAlarming)
        }
        for observation in diagnostics.activeObservations ?? [] {
            let from = "\(observation.file):\(observation.line)"
            rows.append(LiveLook.Row(title: "", value: "\(observation.count) of \(observation.what), from \(from)"))
        }
        if let failure = store.currentStatus.failure {
            rows.append(LiveLook.Row(title: "Last error", value: "\(failure)", isAlarming: true))
        }
        return LiveLook(rows: rows, diagnostics: diagnostics)
    }

    func press(_ button: LiveButton) async -> String {
        switch button {
        case .syncNow: await screen.syncNow()
        case .clearCache: await screen.clearCache()
        }
        if let error = await screen.error { return "Not done: \(error)" }
        let sync = await screen.lines.first { $0.title == "Sync" }?.value ?? "not connected"
        return button == .syncNow ? "Synced: \(sync)." : "The cache is cleared."
    }

    func close() async throws { try await store.close() }
}

/// The process that has a device's file open.
struct FileHolder: CustomStringConvertible {
    let number: Int32

    /// `nil` when no process has it open.
    init?(of path: String) {
        guard let number = FileLock.holder(of: path) else { return nil }
        self.number = number
    }

    var description: String {
        // Only on a system that lists process names as files.
        let name = FileManager.default.contents(atPath: "/proc/\(number)/comm")
            .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) }
        return name.map { "process \(number) (\($0))" } ?? "process \(number)"
    }
}
