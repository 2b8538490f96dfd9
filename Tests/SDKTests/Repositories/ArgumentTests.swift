import Foundation
import Logging
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A caller's mistakes are reported at once, as one type of error.
@Suite(.timeLimit(.minutes(5))) struct ArgumentTests {
    private func code(_ step: () async throws -> Void) async -> StoreError.Code? {
        do {
            try await step()
            return nil
        } catch let error as StoreError {
            return error.code
        } catch {
            Issue.record("\(type(of: error)): \(error)")
            return nil
        }
    }

    @Test func `a negative limit is an error and not an empty list`() async throws {
        let store = try SyncStore.test()
        let notes = store.repository(Note.self)
        #expect(await code { _ = try await notes.readAll(limit: -1) } == .invalidArgument)
        #expect(await code { for try await _ in notes.observe(limit: -1) { break } } == .invalidArgument)
        #expect(try await notes.readAll(limit: 0).isEmpty)
    }

    @Test func `a user without a name has no store`() async throws {
        let folder = try TemporaryFolder()
        let schema = try TestSchema.schema()
        #expect(await code { _ = try SyncStore.inMemory(account: UserID(""), schema: schema) } == .invalidArgument)
        let place = URL(fileURLWithPath: folder.path("store"))
        #expect(
            await code { _ = try await SyncStore.open(account: UserID(""), at: place, schema: schema) }
                == .invalidArgument)
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test func `an invalid address is refused`() async throws {
        let store = try SyncStore.test()
        let connected = await code { try store.connect(to: "sync.example.com", transport: ScriptedServer()) { "t" } }
        #expect(connected == .invalidArgument)
        let synced = await code { try await store.run(connectedTo: "ftp://x", transport: ScriptedServer()) { "t" } }
        #expect(synced == .invalidArgument)
    }

    @Test func `a folder that cannot be made, and a store that is closed, are errors of the store`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("file")
        try Data([1]).write(to: URL(fileURLWithPath: file))
        let schema = try TestSchema.schema()
        #expect(
            await code {
                _ = try await SyncStore.open(
                    account: UserID("ann"), at: URL(fileURLWithPath: "\(file)/below"), schema: schema)
            } == .databaseFailed)
        let place = URL(fileURLWithPath: folder.path("store"))
        let store = try await SyncStore.open(account: UserID("ann"), at: place, schema: schema)
        try await store.close()
        #expect(await code { try await store.repository(Note.self).create(Note(room: UUID())) } == .databaseFailed)
    }

    @Test func `an app's own SQL that is wrong is an error of the store`() async throws {
        let store = try SyncStore.test()
        #expect(await code { _ = try await store.read { try $0.rows("SELECT nothing") } } == .databaseFailed)
    }

    @Test func `a write returns its closure's result`() async throws {
        let store = try SyncStore.test()
        let room = UUID()
        let (note, receipt) = try await store.write { batch in
            let note = Note(room: room, text: "a")
            batch.create(note)
            return note
        }
        #expect(try await store.repository(Note.self).read(note.id)?.text == "a")
        #expect(try await store.receipt(for: receipt.id) != nil)
        let plain: WriteReceipt = try await store.write { $0.delete(note) }
        #expect(plain.id != receipt.id)
        let many = try await store.write(.inParts) { batch in
            for _ in 0..<3 { batch.create(Note(room: room)) }
            return 3
        }
        #expect(many.value == 3)
    }

    @Test func `an answer from something other than the server is one line of bounded length, without markup`() {
        let page =
            "<!doctype html>\n<html><head><style>body { color: red }</style><title>Sign in</title>\u{1b}[2J"
            + "<script>alert(1)</script></head><body>\u{202e}Welcome to <b>the café</b>"
            + String(repeating: " wifi", count: 500)
        let failure = SyncFailure(httpStatus: 200, page)
        #expect(failure.detail.hasPrefix("HTTP status 200: Sign in [2J Welcome to the café wifi wifi"))
        #expect(failure.detail.count < 230)
        #expect(!failure.detail.contains("\n") && !failure.detail.unicodeScalars.contains("\u{1b}"))
        #expect(SyncFailure(httpStatus: 404, "").detail == "HTTP status 404")
        #expect(SyncFailure(.unavailable, "a\u{7}b\n  c").detail == "a b c")
    }

    @Test func `an address that answers and is no server is tried every few seconds at most`() {
        var bench = MachineBench()
        bench.on(.start)
        let end = bench.now + 60_000
        while bench.now < end {
            if bench.machine.link == .opening { bench.on(.openFailed(SyncFailure(httpStatus: 404, "page"))) }
            bench.pass(250)
        }
        let pauses = zip(bench.openings, bench.openings.dropFirst()).map { $1 - $0 }
        #expect(pauses.count > 3 && pauses.allSatisfy { $0 >= 5_000 }, "\(pauses)")
    }

    @Test func `a refusal that waiting does not change is one warning in the log`() async throws {
        let log = LogCapture()
        let store = try SyncStore.test()
        try store.connect(
            to: "http://test", transport: RefusingServer(), logger: Logger(label: "test") { _ in log }
        ) { "t" }
        for await status in store.status { if case .rejected = status.connection { break } }
        await store.disconnect()
        let warnings = log.lines.filter { $0.hasPrefix("warning") || $0.hasPrefix("error") }
        #expect(warnings.count == 1, "\(warnings)")
        #expect(
            warnings.first?.contains("nothing is sent or received until the app connects in another way") == true
                && warnings.first?.contains("code=forbidden") == true)
    }
}

/// Closes each connection with 4403.
private struct RefusingServer: Transport {
    func connect(to url: String) async throws -> any TransportConnection { Refusal() }

    func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer {
        throw SyncFailure(.unreachable, "no calls")
    }

    private struct Refusal: TransportConnection {
        func send(_ message: [UInt8]) async throws {}
        func receive() async throws -> [UInt8] { throw TransportClosed(code: 4403, reason: "signed out") }
        func close(code: UInt16) async {}
    }
}
