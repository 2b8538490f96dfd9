import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct BlobUploadsTests {
    private var machine = BlobUploads(seed: 5)

    private func key(_ number: Int) -> BlobKey {
        BlobKey(scope: ScopeID("room"), digest: BlobDigest(sha256: Array(repeating: UInt8(number), count: 32)))
    }

    @Test mutating func `without a connection nothing is looked for`() {
        #expect(machine.on(.wrote, now: 0) == [])
        #expect(machine.on(.linked(true), now: 0) == [.load(limit: 2)])
    }

    @Test func `a connection that ended and came back between two looks is noticed as both`() {
        let inbox = BlobInbox()
        inbox.linked(true)
        #expect(inbox.take().events == [.linked(true)])
        inbox.linked(false)
        inbox.linked(true)
        #expect(inbox.take().events == [.linked(false), .linked(true)])
        inbox.linked(false)
        #expect(inbox.take().events == [.linked(false)])
    }

    @Test mutating func `two are in flight, and the next is sent when one has ended`() {
        _ = machine.on(.linked(true), now: 0)
        #expect(machine.on(.loaded([key(1), key(2)]), now: 0) == [.send(key(1)), .send(key(2))])
        #expect(machine.on(.wrote, now: 1) == [])
        #expect(machine.on(.ended(key(1), .sent), now: 2) == [.note(key(1), .sent), .load(limit: 3)])
        #expect(machine.on(.loaded([key(2), key(3), key(4)]), now: 2) == [.send(key(3))])
    }

    @Test mutating func `bytes written during a look are looked for again`() {
        _ = machine.on(.linked(true), now: 0)
        #expect(machine.on(.wrote, now: 0) == [])
        #expect(machine.on(.loaded([]), now: 0) == [.load(limit: 2)])
        #expect(machine.on(.loaded([]), now: 0) == [])
    }

    @Test mutating func `an upload that ended during a look is not repeated because of the look's result`() {
        _ = machine.on(.linked(true), now: 0)
        _ = machine.on(.loaded([key(1), key(2)]), now: 0)
        _ = machine.on(.ended(key(1), .sent), now: 0)
        #expect(machine.on(.ended(key(2), .sent), now: 0) == [.note(key(2), .sent)])
        #expect(machine.on(.loaded([key(2), key(3)]), now: 0) == [.send(key(3)), .load(limit: 3)])
    }

    @Test mutating func `after a failure it waits, longer each time, and a refusal of one blob delays no other`() {
        _ = machine.on(.linked(true), now: 0)
        _ = machine.on(.loaded([key(1)]), now: 0)
        let refused = BlobUploadEnd.refused(.tooLarge, "413")
        #expect(machine.on(.ended(key(1), refused), now: 0) == [.note(key(1), refused), .load(limit: 2)])
        var (now, waits): (Int64, [Int64]) = (0, [])
        for _ in 0..<80 {
            _ = machine.on(.loaded([key(2)]), now: now)
            let effects = machine.on(.ended(key(2), .later("cut", after: nil)), now: now)
            guard case .wake(let time)? = effects.last else {
                Issue.record("no wake: \(effects)")
                return
            }
            #expect(machine.on(.wrote, now: time - 1) == [.wake(at: time)])
            #expect(machine.on(.tick, now: time) == [.load(limit: 2)])
            waits.append(time - now)
            now = time
        }
        #expect(waits.allSatisfy { (500...30_000).contains($0) })
        #expect(waits.suffix(2).allSatisfy { $0 >= 15_000 })
    }

    @Test mutating func `a wait that the server asks for lasts through new connections, and no longer than an hour`() {
        _ = machine.on(.linked(true), now: 0)
        _ = machine.on(.loaded([key(1)]), now: 0)
        _ = machine.on(.ended(key(1), .later("429", after: 90_000)), now: 0)
        #expect(machine.on(.linked(false), now: 10) == [])
        #expect(machine.on(.linked(true), now: 20) == [.wake(at: 90_000)])
        #expect(machine.on(.tick, now: 90_000) == [.load(limit: 2)])
        _ = machine.on(.loaded([key(1)]), now: 90_000)
        _ = machine.on(.ended(key(1), .later("429", after: .max)), now: 90_000)
        #expect(machine.on(.wrote, now: 90_001) == [.wake(at: 3_690_000)])
    }

    @Test mutating func `a new connection ends the wait after a failure, and a late answer of the old one does not`() {
        _ = machine.on(.linked(true), now: 0)
        _ = machine.on(.loaded([key(1)]), now: 0)
        _ = machine.on(.ended(key(1), .later("cut", after: nil)), now: 0)
        #expect(!machine.on(.linked(true), now: 1).contains(.load(limit: 2)))
        #expect(machine.on(.linked(false), now: 2) == [])
        #expect(machine.on(.linked(true), now: 3) == [.load(limit: 2)])
    }

    @Test mutating func `a network that comes and goes sends nothing twice at a time`() {
        var sent: [BlobKey] = []
        for round in 0..<50 {
            let effects = machine.on(.linked(true), now: Int64(round))
            if effects.contains(.load(limit: 2)) {
                for case .send(let key) in machine.on(.loaded([key(1), key(2)]), now: Int64(round)) {
                    sent.append(key)
                }
            }
            _ = machine.on(.linked(false), now: Int64(round))
        }
        #expect(sent == [key(1), key(2)])
    }

    @Test mutating func `a round ends when all is sent, or when nothing can be sent for a while`() {
        #expect(machine.on(.round(1), now: 0) == [.roundEnded(1)])
        _ = machine.on(.linked(true), now: 0)
        #expect(machine.on(.round(2), now: 0) == [])
        _ = machine.on(.loaded([key(1)]), now: 0)
        _ = machine.on(.ended(key(1), .sent), now: 0)
        #expect(machine.on(.loaded([]), now: 0) == [.load(limit: 2)], "asked for during a look")
        #expect(machine.on(.loaded([]), now: 0) == [.roundEnded(2)])
        _ = machine.on(.round(3), now: 0)
        _ = machine.on(.loaded([key(2)]), now: 0)
        #expect(machine.on(.ended(key(2), .later("cut", after: nil)), now: 0).contains(.roundEnded(3)))
    }
}

@Suite struct BlobDownloadsTests {
    private var downloads = BlobDownloads()

    private func key(_ number: Int) -> BlobKey {
        BlobKey(
            scope: ScopeID("room"),
            digest: BlobDigest(sha256: Array(repeating: UInt8(number % 256), count: 31) + [UInt8(number / 256)]))
    }

    @Test mutating func `all callers that want a blob share one download`() {
        #expect(downloads.ask(key(1), by: 1) == .start)
        #expect(downloads.ask(key(1), by: 2) == .wait)
        downloads.leave(key(1), 1)
        downloads.leave(key(1), 2)
        #expect(downloads.ask(key(1), by: 3) == .wait, "it still runs")
        let (waiters, next) = downloads.ended(key(1))
        #expect(waiters == [3] && next.isEmpty)
        #expect(downloads.ask(key(1), by: 4) == .start)
    }

    @Test mutating func `four run at a time, 256 wait, and nothing is fetched for a caller that gave up`() {
        for number in 1...4 { #expect(downloads.ask(key(number), by: Int64(number)) == .start) }
        for number in 5...260 { #expect(downloads.ask(key(number), by: Int64(number)) == .wait) }
        #expect(downloads.ask(key(261), by: 261) == .busy)
        #expect(downloads.ask(key(260), by: 262) == .wait)
        downloads.leave(key(5), 5)
        #expect(downloads.ended(key(1)).next == [key(6)])
        #expect(downloads.ended(key(2)).next == [key(7)])
    }
}
