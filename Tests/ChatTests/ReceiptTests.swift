import Foundation
import Testing
import Tidemark

@testable import TidemarkChat

@Suite(.timeLimit(.minutes(5))) struct ReceiptTests {
    @Test func `receipts from two devices of one user converge to the furthest, with the earliest time`()
        async throws
    {
        try await TestServer.running { server in
            let (ann, phone, desk) = (try Messenger("ann"), try Messenger("bob"), try Messenger("bob"))
            let room = try await ann.chat.conversations.createDirect(with: phone.user).id
            for number in 1...3 { try await ann.chat.messages.send("\(number)", to: room) }
            for device in [ann, phone, desk] { try device.connect(server) }
            let all = try await phone.messages(room) { $0.count == 3 }
            try await desk.messages(room) { $0.count == 3 }
            await phone.disconnect()
            await desk.disconnect()

            // Each creates the record without knowing of the other's. The second is further on: the server ignores its
            // creation, but must still apply its mark.
            try await phone.chat.messages.markRead(Array(all.prefix(1)))
            try await desk.chat.messages.markRead(all)
            try phone.connect(server)
            try await phone.settled()
            try desk.connect(server)
            try await desk.settled()

            var seen: [[Message]] = []
            for device in [ann, phone, desk] {
                seen.append(
                    try await device.messages(room) { messages in
                        messages.count == 3 && messages.allSatisfy { $0.status == .read }
                    })
            }
            #expect(seen.allSatisfy { $0.map(\.readBy) == seen.first?.map(\.readBy) })
            #expect(seen.first?.allSatisfy { $0.readBy.count == 1 && $0.readBy.first?.at != nil } == true)
            for device in [ann, phone, desk] {
                #expect(try await device.chat.store.outbox.rejected().isEmpty)
                #expect(try await device.chat.store.repository(ReceiptRecord.self).readAll().count == 1)
                await device.disconnect()
            }
        }
    }

    @Test func `marking fifty messages is one transaction, and marking them again is none`() async throws {
        try await TestServer.running { server in
            let (ann, bob) = (try Messenger("ann"), try Messenger("bob"))
            let room = try await ann.chat.conversations.createDirect(with: bob.user).id
            for number in 1...50 { try await ann.chat.messages.send("\(number)", to: room) }
            try ann.connect(server)
            try bob.connect(server)
            // Disconnects only when all pages have arrived: until then, more might be unread.
            try await bob.conversations { $0.first?.unread == Unread(count: 50, isExact: true) }
            let all = try await bob.messages(room) { $0.count == 50 }
            await bob.disconnect()
            try await bob.chat.messages.markRead(all)
            try await bob.chat.messages.markRead(all)
            try await bob.chat.messages.markDelivered(all)
            try await bob.chat.messages.markAllRead(in: room)
            #expect(try await bob.chat.store.outbox.pendingCount.first { _ in true } == 1)
            let list = try await bob.conversations { _ in true }
            #expect(list.first?.unread == Unread(count: 0, isExact: true))
            await ann.disconnect()
        }
    }

    @Test func `messages that are scrolled past are marked as read together`() async throws {
        try await TestServer.running { server in
            var limits = ChatLimits()
            limits.receiptPause = .milliseconds(1)
            let (ann, bob) = (try Messenger("ann"), try Messenger("bob", limits: limits))
            let room = try await ann.chat.conversations.createDirect(with: bob.user).id
            for number in 1...50 { try await ann.chat.messages.send("\(number)", to: room) }
            try ann.connect(server)
            try bob.connect(server)
            try await bob.conversations { $0.first?.unread == Unread(count: 50, isExact: true) }
            let all = try await bob.messages(room) { $0.count == 50 }
            try await bob.settled()
            await bob.disconnect()
            for message in all { bob.chat.messages.noteSeen(message) }
            #expect(try await bob.chat.store.outbox.pendingCount.first { _ in true } == 0)
            let upkeep = Task { try await bob.chat.run() }
            try await bob.conversations { $0.first?.unread == Unread(count: 0, isExact: true) }
            upkeep.cancel()
            // One transaction marks them as read; an earlier one may have marked them as received.
            #expect(try await bob.chat.store.outbox.pendingCount.first { _ in true } <= 2)
            await ann.disconnect()
        }
    }

    @Test func `marks only rise, and the last ones keep their times`() throws {
        var record = ReceiptRecord(of: UserID("bob"), in: UUID())
        record.author = "bob"
        for number in Int64(1)...100 { record.note(.read, through: number * 10, at: number, timesMax: 64) }
        record.note(.read, through: 500, at: 7_000, timesMax: 64)
        record.note(.delivered, through: 900, at: 8_000, timesMax: 64)
        #expect(record.readThrough == 1_000)
        #expect(record.deliveredThrough == nil)
        #expect(record.readings?.count == 64)
        let track = try #require(ReceiptTrack(record))
        func time(_ number: Int64) -> Date? { ReceiptTrack.receipts([track], { $0.readings }, number).first?.at }
        #expect(time(1_000) == Date(timeIntervalSince1970: 0.100))
        #expect(time(991) == Date(timeIntervalSince1970: 0.100))
        #expect(time(990) == Date(timeIntervalSince1970: 0.099))
        // A mark older than the kept times is no later than the oldest of them.
        #expect(time(5) == Date(timeIntervalSince1970: 0.037))
        #expect(ReceiptTrack.receipts([track], { $0.readings }, 1_001).isEmpty)
        #expect(ReceiptTrack.receipts([track], { $0.deliveries }, 1_000).count == 1)
    }

    @Test func `of two marks for one message the earlier time is used`() throws {
        var record = ReceiptRecord(of: UserID("bob"), in: UUID())
        record.author = "bob"
        record.readThrough = 10
        record.readings = ["10@5000", "8@9000", "no mark"]
        let track = try #require(ReceiptTrack(record))
        #expect(
            ReceiptTrack.receipts([track], { $0.readings }, 7)
                == [Receipt(user: UserID("bob"), at: Date(timeIntervalSince1970: 5))])
    }
}
