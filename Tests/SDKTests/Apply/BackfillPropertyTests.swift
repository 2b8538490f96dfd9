import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// I-12, I-14, I-17: pages that arrive late, twice or out of step with the stream end in the server's state.
@Suite struct BackfillPropertyTests {
    @Test(arguments: 1...10)
    func `pages and frames in any interleaving end in the server's state`(seed: UInt64) throws {
        var dice = SplitMix(seed: seed)
        let bench = try Bench()
        var server = try ModelServer()
        for number in 0..<40 { _ = server.accept([.note(UInt64(number))], from: "bob") }
        var cursor = server.head
        _ = try bench.database.beginConnection()
        try bench.database.welcomed(
            .make(cursor: "s\(cursor)", added: [.init(scope: server.room, since: 1, role: .member)]))
        /// Answers on their way; each may arrive at any time, and again.
        var flying: [PageAnswer] = []
        var landed: [PageAnswer] = []

        func deliver() throws {
            try bench.database.apply(server.frame(from: cursor), now: 0)
            cursor = server.head
        }

        #expect(try bench.page(server.room, "rooms"))
        for _ in 0..<400 {
            switch dice.below(6) {
            case 0:
                let key = RecordKey.note(dice.below(45))
                _ = server.accept(
                    [
                        [
                            .delete(key), .undelete(key, Fields().inRoom(1)),
                            .set(key, "text", .string("v\(dice.below(99))")), .create(key, Fields().inRoom(1)),
                        ].randomElement(using: &dice) ?? .delete(key)
                    ], from: "bob")
            case 1:
                let next = try bench.database.nextPages(limit: 9).first { $0.collection == "notes" }
                if let next { flying.append(server.page(before: next.before, limit: 4)) }
            case 2:
                guard !flying.isEmpty else { break }
                let page = flying.remove(at: Int(dice.below(UInt64(flying.count))))
                landed.append(page)
                try bench.database.apply(page)
            case 3: if let page = landed.randomElement(using: &dice) { try bench.database.apply(page) }
            default: try deliver()
            }
        }
        while let next = try bench.database.nextPages(limit: 9).first(where: { $0.collection == "notes" }) {
            try bench.database.apply(server.page(before: next.before, limit: 4))
        }
        try deliver()
        for page in landed { try bench.database.apply(page) }
        for key in (0..<45).map({ RecordKey.note($0) }) {
            let record = server.records[key]
            #expect(try bench.row(key) == (record?.existence == .live ? record : nil), "seed \(seed), \(key)")
        }
        #expect(try bench.count("tidemark_tombstone") == 0)
    }
}
