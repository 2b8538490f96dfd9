import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The events that wait for the engine's loop.
@Suite(.timeLimit(.minutes(5))) struct EngineInboxTests {
    private let inbox = EngineInbox()

    @Test func `requests that wait become few events, in the machine's order`() async {
        for round in 1...3 {
            inbox.post(.sync(round: Int64(round)))
            inbox.post(.compare)
            inbox.post(.wrote)
            inbox.post(.stop)
            inbox.post(.network(.changed))
            inbox.post(.watch([ScopeID("\(round)")]))
            inbox.post(.history(RecordKey(collection: "notes", id: UniqueID(high: 1, low: 1))))
            inbox.post(.start)
        }
        let taken = await inbox.next()?.map { "\($0.event)" } ?? []
        #expect(
            taken.map { String($0.prefix { $0 != "(" }) } == [
                "start", "wrote", "network", "network", "sync", "watch", "history", "compare",
            ])
        #expect(taken.contains("sync(round: 3)") && taken.contains { $0.contains("\"3\"") || $0.contains("3)") })
        inbox.post(.wrote)
        #expect(await inbox.names() == ["wrote"])
    }

    @Test func `too many messages and histories are dropped`() async {
        for number in 0..<100 {
            inbox.post(.say(Ephemeral(scope: ScopeID("s"), kind: "\(number)", lifetime: 1)))
            inbox.post(.history(RecordKey(collection: "notes", id: UniqueID(high: 1, low: UInt64(number)))))
        }
        let taken = await inbox.next() ?? []
        let said = taken.compactMap { delivery -> String? in
            if case .say(let message) = delivery.event { message.kind } else { nil }
        }
        #expect(said == (68..<100).map(String.init))
        #expect(taken.count == 32 + 64)
    }

    @Test func `deliveries wait until the loop takes them, in order and before the requests`() async {
        let taken = Lock<[Int64]>([])
        await withTaskGroup(of: Void.self) { group in
            for number in 1...2 {
                group.addTask { [inbox] in
                    await inbox.deliver(.confirmed(settled: Int64(number)), of: 7)
                    taken.withLock { $0.append(Int64(number)) }
                }
            }
            while inbox.waiting < 2 { await Task.yield() }
            #expect(taken.current.isEmpty)
            inbox.post(.wrote)
            #expect(await inbox.names() == ["confirmed", "confirmed", "wrote"])
        }
        #expect(taken.current.sorted() == [1, 2])
    }

    @Test func `the end of the loop ends its wait, and those of the deliveries`() async {
        let loop = Task { [inbox] in await inbox.next() == nil }
        loop.cancel()
        #expect(await loop.value)
        async let waits: Void = inbox.deliver(.tick)
        while inbox.waiting < 1 { await Task.yield() }
        inbox.close()
        await waits
        await inbox.deliver(.tick)
        #expect(inbox.waiting == 0)
    }
}
