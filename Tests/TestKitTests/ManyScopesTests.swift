import Foundation
import Testing
import Tidemark
import TidemarkTestKit

/// Users with more conversations than a `hello` lists; `tide bench scopes` measures thousands.
@Suite(.timeLimit(.minutes(10))) struct ManyScopesTests {
    private static let count = 300

    @Test func `a device with 300 scopes returns, a new one gets them all, and a cleared cache is filled again`()
        async throws
    {
        let kit = try TestKit(schema: try Desk.schema())
        let ann = try await kit.client("ann")
        for first in stride(from: 0, to: Self.count, by: 50) {
            try await ann.store.write { batch in
                for number in first..<min(first + 50, Self.count) {
                    batch.create(Room(people: ["ann"], title: "\(number)"))
                }
            }
        }
        try await kit.settle()
        let before = ann.store.metrics
        ann.goOffline()
        await kit.advance(by: .seconds(60))
        ann.goOnline()
        try await kit.settle()
        let after = ann.store.metrics
        #expect(after.succeeded == before.succeeded + 1)
        let (sent, received) = (after.bytesSent - before.bytesSent, after.bytesReceived - before.bytesReceived)
        #expect(sent < 8 * 1_024 && received < 20 * 1_024, "\(sent) bytes sent, \(received) received")
        try await ann.store.repository(Room.self).create(Room(people: ["ann"], title: "one more"))
        try await kit.settle()
        #expect(try kit.rows(of: Room.self).count == Self.count + 1)
        let tablet = try await kit.client("ann")
        try await kit.settle()
        #expect(try await tablet.store.repository(Room.self).count() == Self.count + 1)
        try await tablet.store.clearCache()
        try await kit.settle()
        #expect(try await tablet.store.repository(Room.self).count() == Self.count + 1)
        try kit.expectConverged()
    }
}
