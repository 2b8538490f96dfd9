import Foundation
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkWire

@testable import Tidemark
@testable import TidemarkChat
@testable import TidemarkTestKit

@Suite struct TypingBoardTests {
    private let ann = UserID("ann"), bob = UserID("bob")
    private let room = ScopeID("room")

    private func said(_ user: UserID, kind: String = "typing", for lifetime: Int64 = 6_000) throws -> TypingEvent {
        let message = Ephemeral(scope: room, user: user, kind: kind, lifetime: lifetime)
        return .said(try #require(EphemeralMessage(message)))
    }

    private func message(_ author: UserID) -> TypedMessage { TypedMessage(id: UUID(), author: author) }

    @Test func `typing ends after its time, and a later message prolongs it`() throws {
        var board = TypingBoard(account: UserID("me"))
        #expect(board.on(try said(ann), now: 0) == [ann])
        #expect(board.on(try said(bob), now: 3_000) == [ann, bob])
        #expect(board.on(try said(bob), now: 5_000) == [ann, bob])
        #expect(board.on(.tick, now: 5_999) == [ann, bob])
        #expect(board.on(.tick, now: 6_000) == [bob])
        #expect(board.on(.tick, now: 10_999) == [bob])
        #expect(board.on(.tick, now: 11_000) == [])
    }

    @Test func `a message ends its author's typing, and only theirs`() throws {
        var board = TypingBoard(account: UserID("me"))
        let old = message(ann)
        #expect(board.on(try said(ann), now: 0) == [ann])
        // An older message says nothing about the present.
        #expect(board.on(.arrived([old]), now: 1) == [ann])
        #expect(board.on(try said(bob), now: 2) == [ann, bob])
        let new = message(ann)
        #expect(board.on(.arrived([new, old]), now: 3) == [bob])
        #expect(board.on(.arrived([new, old]), now: 4) == [bob])
        #expect(board.on(try said(ann), now: 5) == [ann, bob])
        // A receipt or an edit changes the list and is no message.
        #expect(board.on(.arrived([new, old]), now: 6) == [ann, bob])
    }

    @Test func `other kinds and the own devices are ignored`() throws {
        var board = TypingBoard(account: ann)
        #expect(board.on(try said(ann), now: 0) == [])
        #expect(board.on(try said(bob, kind: "wave"), now: 0) == [])
        #expect(board.on(try said(bob, for: 0), now: 0) == [])
    }
}

@Suite(.timeLimit(.minutes(5))) struct TypingTests {
    @Test func `the other sees a user type until the message arrives, and an outsider sees nothing`() async throws {
        try await TestServer.running { server in
            let (ann, bob, eve) = (try Messenger("ann"), try Messenger("bob"), try Messenger("eve"))
            for device in [ann, bob, eve] {
                try device.connect(server)
                _ = try await device.chat.store.syncNow()
            }
            let room = try await ann.chat.conversations.createDirect(with: bob.user)
            try await bob.conversations { $0.count == 1 }
            try await ann.settled()
            let outside = eve.chat.store.ephemerals(in: .of(room.id))
            // Bob's clock does not move: nothing ends by itself.
            var typing = bob.chat.typing.observeTyping(in: room.id, clock: VirtualClock(Timeline(now: 0)))
                .makeAsyncIterator()
            #expect(try await typing.next() == [])
            ann.chat.typing.setTyping(in: room.id)
            eve.chat.typing.setTyping(in: room.id)
            #expect(try await typing.next() == [ann.user])
            try await ann.chat.messages.send("hi", to: room.id)
            #expect(try await typing.next() == [])
            for device in [ann, bob, eve] { await device.disconnect() }
            withExtendedLifetime(outside) {}
        }
    }

    @Test func `a message ends its author's typing, however many others claim to be a year ahead`() async throws {
        try await TestServer.running { server in
            let (ann, bob) = (try Messenger("ann"), try Messenger("bob"))
            for device in [ann, bob] { try device.connect(server) }
            let room = try await ann.chat.conversations.createDirect(with: bob.user)
            try await bob.conversations { $0.count == 1 }
            let ahead = Date(timeIntervalSinceNow: 365 * 86_400)
            for number in 1...20 {
                try await bob.chat.store.repository(MessageRecord.self).create(
                    MessageRecord(id: UUID(), conversationId: room.id, text: "\(number)", sentAt: ahead))
            }
            try await ann.messages(room.id) { $0.count == 20 }
            try await bob.settled()
            // Ann's clock does not move: nothing ends by itself.
            var typing = ann.chat.typing.observeTyping(in: room.id, clock: VirtualClock(Timeline(now: 0)))
                .makeAsyncIterator()
            #expect(try await typing.next() == [])
            bob.chat.typing.setTyping(in: room.id)
            #expect(try await typing.next() == [bob.user])
            try await bob.chat.messages.send("hi", to: room.id)
            #expect(try await typing.next() == [])
            for device in [ann, bob] { await device.disconnect() }
        }
    }

    @Test func `a date that is set by a day ends no user's typing`() async throws {
        let date = Lock<Milliseconds>(1_000_000_000)
        let environment = StoreEnvironment(now: { date.withLock { $0 } }, random: StoreEnvironment.system.random)
        try await TestServer.running { server in
            let bob = Messenger(
                try .inMemory(account: UserID("bob"), schema: try ChatSchema.schema(), environment: environment))
            let (ann, cyd) = (try Messenger("ann"), try Messenger("cyd"))
            for device in [ann, bob, cyd] {
                try device.connect(server)
                _ = try await device.chat.store.syncNow()
            }
            let room = try await ann.chat.conversations.createGroup(
                name: "three", imageURL: nil, members: [bob.user, cyd.user])
            for device in [bob, cyd] { try await device.conversations { $0.count == 1 } }
            try await ann.settled()
            var typing = bob.chat.typing.observeTyping(in: room.id, clock: VirtualClock(Timeline(now: 0)))
                .makeAsyncIterator()
            #expect(try await typing.next() == [])
            ann.chat.typing.setTyping(in: room.id)
            #expect(try await typing.next() == [ann.user])
            date.withLock { $0 += 86_400_000 }
            cyd.chat.typing.setTyping(in: room.id)
            #expect(try await typing.next() == [ann.user, cyd.user])
            for device in [ann, bob, cyd] { await device.disconnect() }
        }
    }

    @Test func `keys in quick succession are one message, and another conversation has its own`() async throws {
        let time = Timeline(now: 0)
        let date = Lock<Milliseconds>(1_000_000_000)
        var device = StoreEnvironment(now: { date.withLock { $0 } }, random: StoreEnvironment.system.random)
        let clock = SetClock(time)
        device.clock = clock
        let environment = device
        try await TestServer.running { server in
            let ann = Messenger(
                try .inMemory(account: UserID("ann"), schema: try ChatSchema.schema(), environment: environment))
            let desk = try Messenger("ann")
            for device in [ann, desk] { try device.connect(server) }
            let rooms = [
                try await ann.chat.conversations.createDirect(with: UserID("bob")).id,
                try await ann.chat.conversations.createDirect(with: UserID("eve")).id,
            ]
            try await ann.settled()
            try await desk.conversations { $0.count == 2 }
            _ = try await ann.chat.store.syncNow()
            _ = try await desk.chat.store.syncNow()
            clock.stop()
            var heard = desk.chat.store.ephemerals(in: .of(rooms[0])).makeAsyncIterator()
            var other = desk.chat.store.ephemerals(in: .of(rooms[1])).makeAsyncIterator()
            for _ in 0..<5 { ann.chat.typing.setTyping(in: rooms[0]) }
            time.move(to: 2_999)
            // It does not depend on the device's date.
            date.withLock { $0 += 86_400_000 }
            ann.chat.typing.setTyping(in: rooms[0])
            ann.chat.typing.setTyping(in: rooms[1])
            #expect(await other.next()?.kind == "typing")
            ann.chat.store.send(ephemeral: "between", in: .of(rooms[0]))
            time.move(to: 3_000)
            date.withLock { $0 -= 2 * 86_400_000 }
            ann.chat.typing.setTyping(in: rooms[0])
            ann.chat.store.send(ephemeral: "last", in: .of(rooms[0]))
            var kinds: [String] = []
            while kinds.last != "last", let message = await heard.next() { kinds.append(message.kind) }
            #expect(kinds == ["typing", "between", "typing", "last"])
            for device in [ann, desk] { await device.disconnect() }
        }
    }
}

/// The real time until it is stopped, then the time that the test sets. Waits are real ones. Devices connect before it
/// is stopped: for one that waits for a lost connection no time would pass.
private final class SetClock: Clock {
    private let time: Timeline
    private let stopped = Lock<ContinuousClock.Instant?>(nil)

    init(_ time: Timeline) { self.time = time }

    func stop() { stopped.withLock { $0 = ContinuousClock.now } }

    var now: ContinuousClock.Instant {
        stopped.withLock { $0?.advanced(by: .milliseconds(time.now)) } ?? ContinuousClock.now
    }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(for: now.duration(to: deadline), tolerance: tolerance)
    }
}
