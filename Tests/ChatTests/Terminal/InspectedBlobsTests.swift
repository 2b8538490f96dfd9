import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

@testable import TidemarkTerminal

@Suite(.timeLimit(.minutes(5))) struct InspectedBlobsTests {
    @Test func `inspect counts the stored bytes and lists unsent ones, with the reason`()
        async throws
    {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let ann = try await kit.client("ann")
        let room = try await Chat(ann.store).conversations.createDirect(with: UserID("bob")).id
        let scope = ScopeID(record: room)
        try await ann.store.blobs.add(Data(count: 5_000), in: scope)
        try await kit.settle()
        kit.faults.blobs(.refused(status: 507), of: ann)
        let digest = try await ann.store.blobs.add(Data(count: 3_000_000), in: scope)
        try await kit.settle()
        let diagnostics = try await ann.store.diagnostics()
        let now = Date(timeIntervalSince1970: Double(ann.store.environment.now()) / 1_000)
        let lines = InspectionText.overview(diagnostics, now: now).split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex(of: "blobs      1 held, 4 KiB; 1 not sent"))
        #expect(
            lines[start + 1] == "  \(digest.text.prefix(12))  2 MiB, 0 s old, 1 attempt, refused: quota, in \(scope)")
        #expect(lines[start + 2].hasPrefix("     last error: 507"))
        #expect(try String(decoding: await ann.store.exportReport(), as: UTF8.self).contains("\"quota\""))
    }
}
