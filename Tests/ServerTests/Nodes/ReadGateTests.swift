import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import TidemarkNode

/// The order in which reads are made.
@Suite(.timeLimit(.minutes(5))) struct ReadGateTests {
    /// The reads that were made, in their order.
    private final class Order: Sendable {
        private let names = Lock<[String]>([])

        var all: [String] { names.withLock(\.self) }

        func append(_ name: String) { names.withLock { $0.append(name) } }
    }

    /// Runs `ask` while the only permit of a gate is taken, then gives the permit back.
    ///
    /// - Returns: the reads in the order in which they were made.
    private static func order(
        _ ask: (ReadGate, inout ThrowingDiscardingTaskGroup<any Error>, Order) async throws -> Void
    ) async throws -> [String] {
        let (gate, order) = (ReadGate(permits: 1), Order())
        let (held, release) = AsyncStream.makeStream(of: Void.self)
        let (begun, begins) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                await gate.pass {
                    begins.finish()
                    for await _ in held {}
                }
            }
            defer { release.finish() }
            for await _ in begun {}
            try await ask(gate, &group, order)
        }
        return order.all
    }

    @Test func `a workspace with 10,000 scopes waiting to be read delays another one by a single read`() async throws {
        let order = try await Self.order { gate, group, order in
            for _ in 0..<10_000 {
                group.addTask { await gate.pass(for: WorkspaceID("a")) { order.append("a") } }
            }
            try await eventually("the reads of one wait") { gate.waitingCount == 10_000 }
            group.addTask { await gate.pass(for: WorkspaceID("b")) { order.append("b") } }
            try await eventually("the read of the other waits") { gate.waitingCount == 10_001 }
        }
        #expect(order.count == 10_001 && order.firstIndex(of: "b") == 1)
    }

    @Test func `workspaces take turns, and the reads of each keep their order`() async throws {
        let order = try await Self.order { gate, group, order in
            for (index, name) in ["a1", "a2", "a3", "b1", "-1", "b2", "c1", "-2"].enumerated() {
                let workspace = name.first == "-" ? nil : WorkspaceID(String(name.prefix(1)))
                group.addTask { await gate.pass(for: workspace) { order.append(name) } }
                try await eventually("\(name) waits") { gate.waitingCount == index + 1 }
            }
        }
        #expect(order == ["a1", "b1", "-1", "c1", "a2", "b2", "-2", "a3"])
    }

    @Test func `a server's page reads name their workspace`() async throws {
        let order = Order()
        try await TestServer.running { server in
            let node = server.node
            let holders = (0..<NodeLimits().readsMax).map { _ in AsyncStream.makeStream(of: Void.self) }
            let page = PageRequest(id: 1, scope: ScopeID("s"), since: 0, collection: "messages", limit: 1)
            try await withThrowingDiscardingTaskGroup { group in
                defer { for holder in holders { holder.continuation.finish() } }
                for holder in holders {
                    let (begun, begins) = AsyncStream.makeStream(of: Void.self)
                    group.addTask {
                        await node.readGate.pass {
                            begins.finish()
                            for await _ in holder.stream {}
                        }
                    }
                    for await _ in begun {}
                }
                for _ in 0..<2_000 { group.addTask { _ = try await node.page(page, in: WorkspaceID("a")) } }
                try await eventually("the reads of one wait") { node.readGate.waitingCount == 2_000 }
                group.addTask {
                    _ = try await node.page(page, in: WorkspaceID("b"))
                    order.append("\(node.readGate.waitingCount)")
                }
                try await eventually("the read of the other waits") { node.readGate.waitingCount == 2_001 }
            }
        }
        let left = try #require(order.all.first.flatMap { Int($0) })
        #expect(left > 1_000, "reads of the one that wait when the other has its page")
    }
}
