import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkLock
import TidemarkModel

/// Measures the SDK on a device's file; each figure is beside that of SQLite's C API doing the same on the same file,
/// in turns.
struct LocalRun {
    var messages = 100_000
    var conversations = 1_000
    /// The number of times that each operation is done.
    var rounds = 200

    /// The number of series, of which the median is used: the hundredth slowest of a few rounds would depend on the
    /// machine.
    private static let seriesCount = 5

    let clock = ContinuousClock()

    func run() async throws -> LimitTable {
        let folder = try TemporaryFolder("tidemark-bench")
        defer { withExtendedLifetime(folder) {} }
        let ground = try LocalGround(folder: folder)
        try ground.fill(messages: messages, conversations: conversations)
        var table = LimitTable("local", unit: "figure, p50 in ms unless it says else")
        try await open(ground, &table)
        let chat = Chat(try ground.open())
        let raw = try RawSQLite(path: ground.path)
        try raw.copyShape(of: "messages", to: "bench_messages")
        try await reads(chat, raw, ground, &table)
        try await typed(chat, ground, &table)
        try await list(chat, &table)
        try await search(chat, ground, &table)
        try await memory(chat, ground, &table)
        try await writes(chat, raw, ground, &table)
        try await changes(chat, raw, ground, &table)
        try await writer(chat, ground, &table)
        try await observer(chat, ground, &table)
        try await searchLate(chat, ground, &table)
        try fillScopes(&table)
        try await cache(&table)
        return table
    }

    /// Fills many small scopes, without server and network, which `tide bench scopes` measures: 1.5 seconds for 2,000,
    /// and 8 for 10,000.
    private func fillScopes(_ table: inout LimitTable) throws {
        for (scopes, each) in [(2 * conversations, 0.75), (10 * conversations, 0.8)] {
            let folder = try TemporaryFolder("tidemark-bench")
            defer { withExtendedLifetime(folder) {} }
            let ground = try LocalGround(folder: folder)
            let took = try clock.measure { try ground.fill(scopes: scopes) }
            table.add(
                "scopes_\(scopes)", "\(scopes) scopes of one record filled", took / .milliseconds(1),
                .below(max(100, each * Double(scopes)), ""))
        }
    }

    /// Returns p50 and p99 of both, in milliseconds.
    func inTurns(
        _ count: Int, _ one: () async throws -> Void, _ other: () async throws -> Void = {}
    ) async throws -> (sdk: [Double], raw: [Double]) {
        var (sdk, raw) = (LatencyLog(), LatencyLog())
        // Once for caches and prepared statements.
        try await one()
        try await other()
        for _ in 0..<count {
            sdk.record(nanoseconds: try await time(one))
            raw.record(nanoseconds: try await time(other))
        }
        return (sdk.percentiles([0.5, 0.99]), raw.percentiles([0.5, 0.99]))
    }

    private func time(_ body: () async throws -> Void) async throws -> UInt64 {
        let began = clock.now
        try await body()
        return UInt64((clock.now - began) / .nanoseconds(1))
    }

    // MARK: Reading

    private func open(_ ground: LocalGround, _ table: inout LimitTable) async throws {
        var opened: [SyncStore] = []
        let figures = try await inTurns(max(3, rounds / 20)) {
            let store = try ground.open()
            opened.append(store)
            let list = try await Chat(store).conversations.observe(newest: 50).first { !$0.isEmpty }
            guard list?.count == min(50, conversations) else { throw BenchError("the list is not whole") }
        } _: {
            // The system ends apps without letting them close anything.
            opened.last?.database.abandonLock()
        }
        for store in opened { try store.database.close() }
        table.add(
            "open", "opened, first 50 of \(conversations) conversations read", figures.sdk[0], .below(100, ""),
            .below(200, "S3.2"), .below(500, "S3.6"))
    }

    private func reads(
        _ chat: Chat, _ raw: RawSQLite, _ ground: LocalGround, _ table: inout LimitTable
    ) async throws {
        let scope = ScopeID(record: ground.long)
        let repository = chat.store.repository(DemoMessage.self)
        for (size, key, limits) in [(50, "page", 1.75), (1_000, "thousand", 2.0)] {
            let figures = try await inTurns(rounds) {
                let page = try await repository.readAll(order: [.by(\.sentAt, .descending)], limit: size, in: scope)
                guard page.count == min(size, messages) else { throw BenchError("\(page.count) of \(size) read") }
            } _: {
                let page = try raw.messages(in: scope.text, limit: size)
                guard page.count == min(size, messages) else { throw BenchError("\(page.count) of \(size) read") }
            }
            table.add(
                key, "\(size) messages of \(messages), repository", figures.sdk[0], raw: figures.raw[0],
                .timesRaw(limits))
            table.add("\(key)_p99", "  the same, p99", figures.sdk[1], raw: figures.raw[1], .below(50, "S0.12"))
            let chatFigures = try await inTurns(rounds) {
                _ = try await chat.messages.newestPage(of: UUID(ground.long), limit: size)
            }
            table.add(
                "\(key)_chat", "  with receipts and status, chat", chatFigures.sdk[0], raw: figures.raw[0],
                .below(100, "S3.6"))
        }
    }

    /// Reads by key paths; the column of raw SQLite has the same by strings.
    private func typed(_ chat: Chat, _ ground: LocalGround, _ table: inout LimitTable) async throws {
        let repository = chat.store.repository(DemoMessage.self)
        let (scope, conversation) = (ScopeID(record: ground.long), UUID(ground.long))
        let figures = try await inTurns(rounds) {
            _ = try await repository.readAll(
                where: \.conversationId == conversation && \.text != "", order: [.by(\.sentAt, .descending)], limit: 50,
                in: scope)
        } _: {
            let filter = Filter.equals("conversationId", .id(conversation)).and(.differs("text", ""))
            _ = try await repository.readAll(
                where: .named(filter), order: [.named(.descending("sentAt"))], limit: 50, in: scope)
        }
        table.add(
            "typed", "50 messages by key path; raw is by strings", figures.sdk[0], raw: figures.raw[0], .timesRaw(1.25))
        table.add("typed_p99", "  the same, p99", figures.sdk[1], raw: figures.raw[1])
    }

    private func list(_ chat: Chat, _ table: inout LimitTable) async throws {
        let figures = try await inTurns(max(3, rounds / 10)) {
            for try await list in chat.conversations.observe(newest: conversations) {
                guard list.count == conversations, list.last?.unread.count == LocalGround.shortLength else {
                    throw BenchError("the list is not whole")
                }
                break
            }
        }
        table.add(
            "list", "list of \(conversations) conversations, unread, last message", figures.sdk[0], .below(20, ""),
            .below(100, "S2.6"))
    }

    private func search(_ chat: Chat, _ ground: LocalGround, _ table: inout LimitTable) async throws {
        let room = ChatRoom(chat: chat, conversation: UUID(ground.long))
        let figures = try await inTurns(max(3, rounds / 20)) {
            let hits = try await MessageSearch.hits(LocalGround.rareWord, in: room)
            guard hits.count == messages / 30_000 else { throw BenchError("\(hits.count) hits") }
        }
        table.add("search", "a rare word in \(messages) messages", figures.sdk[0], .below(10, "S0.16"))
    }

    /// Searches right after a number of writes, which the search then has to index.
    private func searchLate(_ chat: Chat, _ ground: LocalGround, _ table: inout LimitTable) async throws {
        let room = ChatRoom(chat: chat, conversation: UUID(ground.long))
        for count in [1, 100, 500, 10_000] {
            var log = LatencyLog()
            for _ in 0..<max(3, rounds / 20) {
                try await createBatch(chat.store, ground, count)
                log.record(
                    nanoseconds: try await time { _ = try await MessageSearch.hits(LocalGround.rareWord, in: room) })
            }
            table.add(
                "search_after_\(count)", "a rare word, right after \(count) were written", log.percentiles([0.5])[0],
                .below(20, ""))
        }
    }

    /// Measures memory; adds nothing on a system that does not report it.
    private func memory(_ chat: Chat, _ ground: LocalGround, _ table: inout LimitTable) async throws {
        guard ResidentMemory.bytes(of: "self") != nil else { return }
        let before = try Self.memory()
        let held = try await chat.messages.newestPage(of: UUID(ground.long), limit: 10_000)
        let after = try Self.memory()
        withExtendedLifetime(held) {}
        table.add(
            "memory", "MiB for \(held.count) messages held", Double(max(0, after - before)) / 1_048_576,
            .below(50, "S2.6"))
        // The first observations leave memory that the allocator keeps.
        try await observeAndCancel(chat, ground, times: 200)
        let settled = try Self.memory()
        try await observeAndCancel(chat, ground, times: 1_000)
        let left = try Self.memory() - settled
        table.add(
            "leak", "MiB more after 1000 observations that ended", Double(max(0, left)) / 1_048_576, .below(4, "S2.6"))
    }

    private func observeAndCancel(_ chat: Chat, _ ground: LocalGround, times: Int) async throws {
        for _ in 0..<times {
            guard try await chat.messages.observe(UUID(ground.long), newest: 50).first(where: { !$0.isEmpty }) != nil
            else { throw BenchError("an observation saw nothing") }
        }
    }

    /// Returns the bytes that this process occupies.
    private static func memory() throws -> Int {
        guard let bytes = ResidentMemory.bytes(of: "self") else {
            throw BenchError("the system does not report the memory of this process")
        }
        return bytes
    }

    // MARK: Writing

    private static let insertSQL = """
        INSERT INTO bench_messages (
            local_id, scope, seq, created_time, author, state, conversationId, senderName, sentAt, text
        ) VALUES (?, ?, 0, ?, ?, 'pending', ?, ?, ?, ?)
        """

    private func writes(
        _ chat: Chat, _ raw: RawSQLite, _ ground: LocalGround, _ table: inout LimitTable
    ) async throws {
        let store = chat.store
        // The first writes after opening extend the log's file, which costs time; then it has its length.
        for _ in 0..<10 { try await createBatch(store, ground, 1_000) }
        let one = try await inTurns(rounds) {
            try await store.repository(DemoMessage.self).create(message(ground))
        } _: {
            try insert(message(ground), ground, raw)
        }
        table.add(
            "insert", "insert of a message, durable", one.sdk[0], raw: one.raw[0], .below(2, "S2.6"),
            .timesRaw(2.25))
        table.add("insert_p99", "  the same, p99", one.sdk[1], raw: one.raw[1], .below(10, "S0.2"))
        let batch = try await inTurns(max(3, rounds / 10)) {
            try await createBatch(store, ground, 100)
        } _: {
            try raw.run("BEGIN IMMEDIATE")
            for _ in 0..<100 { try insert(message(ground), ground, raw) }
            try raw.run("COMMIT")
        }
        table.add(
            "batch", "batch of 100 messages", batch.sdk[0], raw: batch.raw[0], .below(500, "S2.6"), .timesRaw(3))
        let thousand = try await time { try await createBatch(store, ground, 1_000) }
        table.add("thousand_inserts", "1000 messages in batches", Double(thousand) / 1_000_000, .below(2_000, "S2.6"))
    }

    /// Writes a hundred at a time; the store cuts them into as many transactions as the server wants.
    func createBatch(_ store: SyncStore, _ ground: LocalGround, _ count: Int) async throws {
        for start in stride(from: 0, to: count, by: 100) {
            try await store.write(.inParts) { batch in
                for _ in start..<min(start + 100, count) { batch.create(message(ground)) }
            }
        }
    }

    private func insert(_ message: DemoMessage, _ ground: LocalGround, _ raw: RawSQLite) throws {
        let scope = RawSQLite.Value.text(ScopeID(record: ground.long).text)
        try raw.run(
            Self.insertSQL,
            [
                .text(UniqueID(message.id).description), scope, .integer(message.sentAt),
                .text(LocalGround.account.text), .text(ground.long.description), .text(message.senderName),
                .integer(message.sentAt), .text(message.text),
            ])
    }

    func message(_ ground: LocalGround) -> DemoMessage {
        DemoMessage(
            id: UUID(LoadTarget.newClient()), conversationId: UUID(ground.long), senderName: "bench",
            sentAt: wallClock(), text: "about as long as people write them in a chat, and then a few words more")
    }

    /// Measures from the call that sends to the observer that shows the message, and from the return of that call.
    private func observer(_ chat: Chat, _ ground: LocalGround, _ table: inout LimitTable) async throws {
        var (whole, after) = (LatencyLog(), LatencyLog())
        try await chat.messages.observe(UUID(ground.long), newest: 50).observed { screen in
            _ = try await screen.first { _ in true }
            for _ in 0..<rounds {
                let began = clock.now
                let sent = try await chat.messages.send("observed", to: UUID(ground.long))
                let committed = clock.now
                let shown = try await screen.first { page in page.contains { $0.id == sent.id } }
                whole.record(nanoseconds: UInt64((shown - began) / .nanoseconds(1)))
                // Some are shown before the call has returned.
                after.record(nanoseconds: UInt64(max(.zero, shown - committed) / .nanoseconds(1)))
            }
        }
        table.add("observed_p99", "returned, then shown, p99", after.percentiles([0.99])[0], .below(2, ""))
        let shown = whole.percentiles([0.5, 0.99])
        table.add("shown", "sent, then shown as sending, chat", shown[0], .below(50, "S4.1"))
        table.add("shown_p99", "  the same, p99", shown[1], .below(50, "S4.1"))
    }

    /// Measures from the call that writes until the observer of the newest 50 has the message, without a messenger's
    /// other work.
    private func writer(_ chat: Chat, _ ground: LocalGround, _ table: inout LimitTable) async throws {
        let repository = chat.store.repository(DemoMessage.self)
        let newest = repository.observe(
            order: [.by(\.sentAt, .descending)], limit: 50, in: .of(ground.long))
        var series: [[Double]] = []
        try await newest.observed { screen in
            _ = try await screen.first { _ in true }
            for _ in 0..<Self.seriesCount {
                var log = LatencyLog()
                for _ in 0..<rounds {
                    let message = message(ground)
                    let began = clock.now
                    try await repository.create(message)
                    let shown = try await screen.first { page in page.contains { $0.id == message.id } }
                    log.record(nanoseconds: UInt64((shown - began) / .nanoseconds(1)))
                }
                series.append(log.percentiles([0.5, 0.99]))
            }
        }
        let figures = (0..<2).map { index in series.map { $0[index] }.sorted()[Self.seriesCount / 2] }
        table.add("written", "written, then shown among the newest 50", figures[0])
        table.add("written_p99", "  the same, p99", figures[1], .below(2, ""))
    }
}

extension LiveValues {
    /// Returns the first value that matches.
    fileprivate func first(where fits: (Element) -> Bool) async throws -> Element? {
        for try await value in self where fits(value) { return value }
        return nil
    }
}
