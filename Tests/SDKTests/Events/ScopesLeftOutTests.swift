import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A user with more scopes than a connection holds is informed by an event.
@Suite struct ScopesLeftOutTests {
    private func welcome(_ bench: Bench, leftOut: Int) throws -> [SyncLogEvent] {
        _ = try bench.database.beginConnection()
        var welcome = Welcome.make(added: [.init(scope: RecordKey.room(1).scope, since: 1, role: .member)])
        welcome.leftOut = leftOut
        var events: [SyncLogEvent] = []
        try bench.database.welcomed(welcome) { events.append($0) }
        return events.filter { $0.name == "scopes_left_out" }
    }

    private func diagnosed(_ bench: Bench) throws -> Int64? {
        try bench.database.writer.read { try DiagnosticsReader(db: $0).read().scopesLeftOut }
    }

    @Test func `the number of omitted scopes is reported once each, and kept for the diagnostics`() throws {
        let bench = try Bench()
        #expect(try welcome(bench, leftOut: 0).isEmpty)
        #expect(try diagnosed(bench) == nil)
        #expect(try welcome(bench, leftOut: 3) == [.scopesLeftOut(held: 1, leftOut: 3)])
        #expect(try welcome(bench, leftOut: 3).isEmpty)
        #expect(try diagnosed(bench) == 3)
        #expect(try welcome(bench, leftOut: 4) == [.scopesLeftOut(held: 1, leftOut: 4)])
        #expect(try welcome(bench, leftOut: 0).isEmpty)
        #expect(try diagnosed(bench) == nil)
        #expect(try welcome(bench, leftOut: 4).count == 1)
    }
}
