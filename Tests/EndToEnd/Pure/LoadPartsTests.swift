import NIOCore
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// The pieces of the load generator.
@Suite struct LoadPartsTests {
    private func scan<Value>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        Array(text.utf8).withUnsafeBytes(body)
    }

    @Test func `marks are counted, and the numbers behind them parsed`() {
        let mark = FrameMark("abab:")
        #expect(scan("abab:1 ababab:22 ab:3 abab") { mark.count(in: $0) } == 2)
        var numbers: [Int64] = []
        scan("abab:1 ababab:22 abab:x") { mark.numbers(in: $0) { numbers.append($0) } }
        #expect(numbers == [1, 22])
        numbers = []
        scan("17,x 9,x,x a,x00123,x4") { FrameMark(",x").numbersBefore(in: $0) { numbers.append($0) } }
        #expect(numbers == [17, 9, 123])
        #expect(scan("") { mark.count(in: $0) } == 0)
        #expect(scan("abab") { mark.end(in: $0) } == nil)
        #expect(scan("xabab:") { mark.end(in: $0) } == 6)
        #expect(scan("aaaaaa") { FrameMark("aa").count(in: $0) } == 3)
    }

    @Test func `a frame of the server's own encoder is counted like its rows`() {
        let change = Change(
            key: RecordKey(collection: "messages", id: UniqueID(high: 1, low: 2)), scope: ScopeID("s"), seq: 5, born: 5,
            isDeleted: false, author: UserID("ann"), created: 1, updated: 1_700_000_000_123,
            fields: ["conversationId": "c", "text": "T00000000000000000123 [\"messages\",\"", "sentAt": 7])
        let frame = Changes(
            from: "a", cursor: "b", time: 1, isLive: true, isConsistent: true,
            groups: [.init(scope: ScopeID("s"), changes: [change, change])],
            settled: Settled(through: 41, outcomes: []))
        let bytes = ServerMessage.changes(frame).encode()
        bytes.withUnsafeBytes { bytes in
            #expect(FrameMark.changes.begins(bytes))
            #expect(FrameMark.messageRow.count(in: bytes) == 2)
            #expect(FrameMark.settled.number(in: bytes) == 41)
            #expect(FrameMark.stamp.number(in: bytes) == 123)
            var times: [Int64] = []
            FrameMark.messageFields.numbersBefore(in: bytes) { times.append($0) }
            #expect(times == [1_700_000_000_123, 1_700_000_000_123])
            #expect(FrameMark.consistent.occurs(in: bytes))
        }
    }

    @Test func `a server's frame is found at any offset, once it is complete`() throws {
        for (count, header) in [
            (5, [UInt8(0x81), 5]), (300, [0x81, 126, 1, 44]), (70_000, [0x81, 127, 0, 0, 0, 0, 0, 1, 17, 112]),
        ] {
            let bytes = [7, 7] + header + [UInt8](repeating: 9, count: count) + [1]
            let end = bytes.count - 1
            try bytes.withUnsafeBytes { bytes in
                let frame = try #require(ServerFrame(in: bytes, at: 2))
                #expect(frame.opcode == 1)
                #expect(frame.payload == 2 + header.count..<end)
                for cut in Array(0..<min(end, 20)) + [end - 1] {
                    #expect(ServerFrame(in: UnsafeRawBufferPointer(rebasing: bytes[..<cut]), at: min(2, cut)) == nil)
                }
            }
        }
        let endless: [UInt8] = [0x81, 127] + [UInt8](repeating: 255, count: 8) + [1, 2, 3]
        endless.withUnsafeBytes { #expect(ServerFrame(in: $0, at: 0) == nil) }
    }

    @Test func `the server's decoder accepts the template's pushes`() throws {
        let conversation = UniqueID(high: 3, low: 4)
        var template = PushTemplate(conversation: conversation, seed: 1, textBytes: 60)
        var buffer = ByteBuffer()
        template.write(first: 7, count: 3, now: 1_700_000_000_000, stamp: 987, into: &buffer)
        guard case .push(let push) = try ClientMessage.decode(Array(buffer.readableBytesView)) else {
            Issue.record("not a push")
            return
        }
        #expect(push.first == 7)
        #expect(push.ackedThrough == 6)
        let transactions = try push.entries.map { try $0.content.get() }
        #expect(transactions.count == 3)
        #expect(Set(transactions.map(\.id) + transactions.map { $0.mutations[0].key.id }).count == 6)
        guard case .create(let fields) = transactions[2].mutations[0].action, case .string(let text)? = fields["text"]
        else {
            Issue.record("not a message")
            return
        }
        #expect(fields["conversationId"] == .string(conversation.description))
        #expect(text.utf8.count == 60)
        #expect(text.hasPrefix("T00000000000000000987"))
    }

    @Test func `percentiles are those of the nearest rank`() {
        var log = LatencyLog()
        #expect(log.percentiles([0.5]) == [0])
        for value in (1...100).reversed() { log.record(nanoseconds: UInt64(value) * 1_000_000) }
        #expect(log.percentiles([0.5, 0.99, 1]) == [50, 99, 100])
        let joined = LatencyLog(joining: [log, LatencyLog(), log])
        #expect(joined.count == 200)
        #expect(joined.percentiles([0.5, 1]) == [50, 100])
        log.removeAll()
        #expect(log.count == 0)
    }

    @Test func `stolen time is the host's share of the elapsed time`() throws {
        let first = try #require(StolenTime(stat: "cpu  100 0 50 800 10 5 5 30 0 0\ncpu0 1 2 3\n"))
        let second = try #require(StolenTime(stat: "cpu  130 0 60 810 10 5 5 80 7 7\n"))
        #expect(second.percent(since: first) == 50)
        #expect(first.percent(since: first) == 0)
        for wrong in ["", "cpu", "cpu 1 2 3", "cpu  1 2 3 4 5 6 7 x", "intr 1 2 3 4 5 6 7 8"] {
            #expect(StolenTime(stat: wrong) == nil)
        }
    }

    @Test func `a report gives users and programs the same figures`() {
        var report = BenchReport("writes")
        report.add("writes_per_s", 12_345.678_9, "writes a second")
        #expect(report.json == #"{"bench":"writes","writes_per_s":12345.679}"#)
        #expect(report.table.contains("12346"))
    }

    @Test func `an announced address is found in a line`() {
        #expect(ListenAddress(announcedIn: "tidemark listening on http://127.0.0.1:8080")?.port == 8_080)
        #expect(ListenAddress(announcedIn: "http://[::1]:9/x")?.host == "::1")
        #expect(ListenAddress(announcedIn: "https is not http") == nil)
        #expect(ListenAddress(announcedIn: "http://nowhere") == nil)
    }

    @Test func `times of the command line are parsed with their units`() {
        #expect(TimeSpan(argument: "90s")?.duration == .seconds(90))
        #expect(TimeSpan(argument: "2h")?.duration == .seconds(7_200))
        #expect(TimeSpan(argument: "15")?.duration == .seconds(15))
        #expect(TimeSpan(argument: "30d")?.duration == .seconds(30 * 86_400))
        for wrong in ["", "s", "0", "-1m", "1w", "99999999999999999h"] { #expect(TimeSpan(argument: wrong) == nil) }
    }
}
