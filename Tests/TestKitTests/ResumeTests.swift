import Testing
import Tidemark
import TidemarkTestKit

/// The cost of reconnecting.
@Suite(.timeLimit(.minutes(5))) struct ResumeTests {
    @Test(arguments: [10, 1_000])
    func `reconnecting without changes takes less than 1,500 bytes, however large the copy is`(
        _ records: Int
    ) async throws {
        let desk = try await Desk()
        for first in stride(from: 0, to: records, by: 50) {
            let room = desk.room.id
            try await desk.ann.store.write { batch in
                for number in first..<min(first + 50, records) {
                    batch.create(Note(room: room, text: "note \(number) with some words in it"))
                }
            }
        }
        try await desk.kit.settle()
        #expect(try await desk.bob.store.repository(Note.self).count() == records)
        // A copy is compared from time to time, but not in this half hour.
        await desk.kit.advance(by: .seconds(1_200))
        desk.bob.goOffline()
        await desk.kit.advance(by: .seconds(1_800))
        let before = desk.bob.store.metrics
        desk.bob.goOnline()
        try await desk.kit.settle()
        let after = desk.bob.store.metrics
        let (sent, received) = (after.bytesSent - before.bytesSent, after.bytesReceived - before.bytesReceived)
        #expect(after.succeeded == before.succeeded + 1)
        #expect(sent > 0 && received > 0 && sent + received < 1_500, "\(sent) bytes sent, \(received) received")
        #expect(after.messagesSent - before.messagesSent <= 2)
        #expect(after.messagesReceived - before.messagesReceived <= 2)
        print("resume with \(records) records: \(sent) bytes sent, \(received) received")
    }
}
