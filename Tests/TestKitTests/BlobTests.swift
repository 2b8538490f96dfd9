import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct BlobTests {
    private let photo = Data((0..<50_000).map { UInt8($0 % 251) })

    private func send(_ bytes: Data, from client: TestClient, in room: Room) async throws -> BlobDigest {
        let scope = ScopeID(record: room.id)
        let digest = BlobDigest(of: bytes)
        try await client.store.write { t in
            t.addBlob(bytes, in: scope)
            t.create(Note(room: room.id, text: digest.text))
        }
        return digest
    }

    private func bytes(_ desk: Desk, _ client: TestClient, _ digest: BlobDigest) async throws -> Data {
        try await desk.kit.whileRunning { try await client.store.blobs.read(digest, in: .of(desk.room.id)) }
    }

    private func refusal(_ desk: Desk, _ client: TestClient, _ digest: BlobDigest) async throws -> BlobError.Code? {
        do {
            _ = try await bytes(desk, client, digest)
            return nil
        } catch let error as BlobError { return error.code }
    }

    @Test func `a picture taken offline in a new room arrives with the room`() async throws {
        let desk = try await Desk()
        desk.ann.goOffline()
        let room = Room(people: ["ann", "bob"])
        try await desk.ann.store.repository(Room.self).create(room)
        let digest = try await send(photo, from: desk.ann, in: room)
        desk.ann.goOnline()
        try await desk.kit.settle()
        #expect(try await desk.ann.store.blobs.unsent().isEmpty)
        let seen = try await desk.kit.whileRunning {
            try await desk.bob.store.blobs.read(digest, in: .of(room.id))
        }
        #expect(seen == photo)
        try desk.kit.expectConverged()
    }

    @Test(arguments: [
        BlobFault.callLost, .answerLost, .doubled, .refused(status: 503), .refused(status: 429, retryAfter: 7),
    ])
    func `whatever is lost, duplicated or delayed on the way, the bytes arrive once`(_ fault: BlobFault) async throws {
        let desk = try await Desk()
        desk.kit.faults.blobs(fault, of: desk.ann, times: 5)
        let digest = try await send(photo, from: desk.ann, in: desk.room)
        try await desk.kit.settle()
        #expect(try await desk.ann.store.blobs.unsent().isEmpty)
        #expect(try await bytes(desk, desk.bob, digest) == photo)
    }

    @Test func `a server that asks for a pause gets one`() async throws {
        let desk = try await Desk()
        desk.kit.faults.blobs(.refused(status: 429, retryAfter: 100), of: desk.ann)
        _ = try await send(photo, from: desk.ann, in: desk.room)
        await desk.kit.advance(by: .seconds(99))
        #expect(try await desk.ann.store.blobs.unsent().count == 1)
        await desk.kit.advance(by: .seconds(2))
        #expect(try await desk.ann.store.blobs.unsent().isEmpty)
    }

    @Test func `a process that ends with a picture to send has sent it after its next start`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-kit-\(UUID())")
        // A temporary folder that remains does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        let desk = try await Desk()
        let tablet = try await desk.kit.client("ann", at: folder)
        try await desk.kit.settle()
        for times in 0..<3 {
            desk.kit.faults.blobs(.answerLost, of: tablet, times: times)
            let digest = try await send(photo + [UInt8(times)], from: tablet, in: desk.room)
            await desk.kit.advance(by: .milliseconds(times * 400))
            try await tablet.kill()
            try await tablet.relaunch()
            try await desk.kit.settle()
            #expect(try await tablet.store.blobs.unsent().isEmpty)
            #expect(try await bytes(desk, desk.bob, digest) == photo + [UInt8(times)])
        }
    }

    @Test func `a removed user fetches nothing more, keeps nothing, and cannot send`() async throws {
        let desk = try await Desk()
        let digest = try await send(photo, from: desk.ann, in: desk.room)
        try await desk.kit.settle()
        #expect(try await bytes(desk, desk.bob, digest) == photo)
        let scope = ScopeID(record: desk.room.id)
        desk.bob.goOffline()
        try await desk.bob.store.blobs.add(Data("late".utf8), in: scope)
        try await desk.kit.faults.revoke(UserID("bob"), from: scope)
        #expect(try await desk.bob.store.blobs.read(digest, in: scope) == photo, "nobody told the device yet")
        desk.bob.goOnline()
        try await desk.kit.settle()
        #expect(try await refusal(desk, desk.bob, digest) == .notThere)
        #expect(try await desk.bob.store.blobs.unsent().map(\.failure) == [.notThere])
        try await desk.kit.faults.grant(UserID("bob"), to: scope)
        #expect(try await bytes(desk, desk.bob, digest) == photo)
        #expect(try await desk.bob.store.blobs.unsent().isEmpty)
    }

    @Test func `knowing a digest gives no user access`() async throws {
        let desk = try await Desk()
        let digest = try await send(photo, from: desk.ann, in: desk.room)
        let other = Room(people: ["bob"])
        try await desk.bob.store.repository(Room.self).create(other)
        try await desk.kit.settle()
        let error = await #expect(throws: BlobError.self) {
            try await desk.kit.whileRunning {
                try await desk.bob.store.blobs.read(digest, in: .of(other.id))
            }
        }
        #expect(error?.code == .notThere)
    }

    @Test func `bytes that were changed on the way are not kept, and the next read has the right ones`() async throws {
        let desk = try await Desk()
        let digest = try await send(photo, from: desk.ann, in: desk.room)
        try await desk.kit.settle()
        desk.kit.faults.blobs(.falsified, of: desk.bob)
        #expect(try await refusal(desk, desk.bob, digest) == .damaged)
        #expect(try await bytes(desk, desk.bob, digest) == photo)
    }

    @Test func `a reader that comes before the bytes are at the server gets them when they are`() async throws {
        let desk = try await Desk()
        desk.kit.faults.blobs(.refused(status: 507), of: desk.ann)
        let digest = try await send(photo, from: desk.ann, in: desk.room)
        try await desk.kit.settle()
        let looks = try await desk.kit.whileRunning {
            var looks: [BlobContent] = []
            let scope = ScopeID(record: desk.room.id)
            for try await look in desk.bob.store.blobs.observe(digest, in: scope) {
                looks.append(look)
                if looks.count == 2 { try await desk.ann.store.blobs.retry(digest, in: scope) }
            }
            return looks
        }
        #expect(looks.last == .here(photo))
        #expect(looks.first == .missing(nil))
        guard looks.count == 3, case .missing(let error?) = looks[1] else {
            Issue.record("\(looks.count) looks")
            return
        }
        #expect(error.code == .notThere)
    }

    @Test func `a network that comes and goes while pictures are on their way loses none`() async throws {
        let desk = try await Desk(seed: 7)
        desk.kit.faults.latency(.milliseconds(40))
        var digests: [BlobDigest] = []
        for number in 0..<6 {
            digests.append(try await send(photo + [UInt8(number)], from: desk.ann, in: desk.room))
            for step in 0..<5 {
                await desk.kit.advance(by: .milliseconds(30 + 17 * step))
                desk.ann.goOffline()
                await desk.kit.advance(by: .milliseconds(10))
                desk.ann.goOnline()
            }
        }
        try await desk.kit.settle()
        #expect(try await desk.ann.store.blobs.unsent().isEmpty)
        for (number, digest) in digests.enumerated() {
            #expect(try await bytes(desk, desk.bob, digest) == photo + [UInt8(number)])
        }
        try desk.kit.expectConverged()
    }

    @Test func `on a full disk nothing is kept in part, and fetched bytes can be shown all the same`() async throws {
        let desk = try await Desk()
        let digest = try await send(photo, from: desk.ann, in: desk.room)
        try await desk.kit.settle()
        desk.kit.faults.diskFull(desk.bob)
        #expect(try await bytes(desk, desk.bob, digest) == photo)
        let error = await #expect(throws: StoreError.self) {
            try await desk.bob.store.blobs.add(Data("mine".utf8), in: .of(desk.room.id))
        }
        #expect(error?.code == .diskFull)
        desk.kit.faults.diskFull(desk.bob, false)
        try await desk.kit.settle()
        #expect(try await desk.bob.store.blobs.unsent().isEmpty)
        #expect(try await desk.bob.store.diagnostics().blobs.held == 0)
        #expect(try await bytes(desk, desk.bob, digest) == photo)
        #expect(try await desk.bob.store.diagnostics().blobs.held == 1)
    }

    @Test func `a read without a connection waits for one`() async throws {
        let desk = try await Desk()
        let digest = try await send(photo, from: desk.ann, in: desk.room)
        try await desk.kit.settle()
        desk.bob.goOffline()
        await desk.kit.advance(by: .seconds(1))
        let looks = try await desk.kit.whileRunning {
            var looks: [BlobContent] = []
            let scope = ScopeID(record: desk.room.id)
            for try await look in desk.bob.store.blobs.observe(digest, in: scope) {
                looks.append(look)
                if looks.count == 2 { desk.bob.goOnline() }
            }
            return looks
        }
        #expect(looks.count == 3 && looks.last == .here(photo))
    }

    @Test func `a device on the mobile network keeps its pictures until it is on Wi-Fi`() async throws {
        let desk = try await Desk()
        var cache = CachePolicy()
        cache.blobs.networks = [.wifi]
        let phone = try await desk.kit.client("ann", cache: cache)
        phone.move(to: .cellular)
        try await desk.kit.settle()
        let digest = try await send(photo, from: phone, in: desk.room)
        try await desk.kit.settle()
        #expect(try await phone.store.blobs.unsent().count == 1 && phone.store.currentStatus.isHoldingBlobs)
        #expect(try await refusal(desk, desk.bob, digest) == .notThere)
        phone.move(to: .wifi)
        try await desk.kit.settle()
        #expect(try await phone.store.blobs.unsent().isEmpty)
        #expect(try await bytes(desk, desk.bob, digest) == photo)
    }
}
