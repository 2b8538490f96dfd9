import Testing
import TidemarkModel
import TidemarkWire

@Suite struct `Hostile input` {
    private let frames =
        GoldenFrames.allClient.map { $0.0.encode() } + GoldenFrames.allServer.map { $0.0.encode() }

    private func decodeBoth(_ bytes: [UInt8]) -> Int {
        var accepted = 0
        do {
            _ = try ClientMessage.decode(bytes)
            accepted += 1
        } catch {}
        do {
            _ = try ServerMessage.decode(bytes)
            accepted += 1
        } catch {}
        return accepted
    }

    @Test func `a message cut anywhere is an error`() {
        for frame in frames {
            for end in 0..<frame.count { #expect(decodeBoth(Array(frame[..<end])) == 0) }
        }
    }

    @Test func `messages with damaged bytes never trap`() {
        var random = SplitMix(seed: 11)
        var refused = 0
        for frame in frames {
            for _ in 0..<2_000 {
                var damaged = frame
                for _ in 0...random.next() % 3 {
                    damaged[Int(random.next() % UInt64(damaged.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                if decodeBoth(damaged) == 0 { refused += 1 }
            }
        }
        #expect(refused > 1_000)
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"t":1}"#, #"{"t":"push"}"#, #"{"t":"nope"}"#, #"{"t":"push","first":0,"m":[{}]}"#,
        #"{"t":"push","first":-1,"m":[{}]}"#, #"{"t":"push","first":99999999999999999999,"m":[{}]}"#,
        #"{"t":"push","first":1.5,"m":[{}]}"#, #"{"t":"push","first":1,"m":{}}"#, #"{"t":"push","first":1,"m":[]}"#,
        #"{"t":"hello","client":"x","conn":1}"#, #"{"t":"hello","client":"018f3a2b-0000-7000-8000-000000000001"}"#,
        #"{"t":"hello","client":"018f3a2b-0000-7000-8000-000000000001","conn":1,"scopes":[["a"]]}"#,
        #"{"t":"hello","client":"018f3a2b-0000-7000-8000-000000000001","conn":1,"scopes":[["",1]]}"#,
        #"{"t":"ack","frames":-1}"#, #"{"t":"page","rid":1,"scope":"s","coll":"c","limit":0}"#, #"{"t":"auth"}"#,
        #"{"t":"eph","k":"typing","d":{},"ttl":1}"#, #"{"t":"eph","scope":"s","d":{},"ttl":1}"#,
        #"{"t":"eph","scope":"s","k":"typing","d":{}}"#, #"{"t":"eph","scope":"s","k":"","d":{},"ttl":1}"#,
        #"{"t":"eph","scope":"s","k":"a\u0001","d":{},"ttl":1}"#, #"{"t":"eph","scope":"","k":"t","d":{},"ttl":1}"#,
        #"{"t":"eph","scope":"s","k":"t","d":[],"ttl":1}"#,
        #"{"t":"eph","scope":"s","k":"t","d":{"a":1,"a":2},"ttl":1}"#,
        #"{"t":"eph","scope":"s","k":"t","d":{},"ttl":-1}"#, #"{"t":"eph","scope":"s","k":"t","d":{},"ttl":1e3}"#,
        #"{"t":"eph","scope":"s","k":"t","d":{"a":{"b":}},"ttl":1}"#,
    ])
    func `a message that violates the protocol is refused whole`(_ text: String) {
        #expect(throws: WireError.self) { try ClientMessage.decode(Array(text.utf8)) }
    }

    @Test func `an ephemeral message of the server names its sender`() {
        let text = #"{"t":"eph","scope":"s","k":"typing","d":{},"ttl":1}"#
        #expect(throws: WireError.self) { try ServerMessage.decode(Array(text.utf8)) }
    }

    @Test func `a message that is too large or lives too long is not allowed`() {
        let limits = EphemeralLimits()
        func message(_ bytes: Int, _ lifetime: Int64) -> Ephemeral {
            // {"a":"…"}
            let payload: Fields = ["a": .string(String(repeating: "x", count: bytes - 8))]
            return Ephemeral(scope: GoldenFrames.room, kind: "typing", payload: payload, lifetime: lifetime)
        }
        #expect(limits.allow(message(1_024, 10_000)))
        #expect(!limits.allow(message(1_025, 10_000)))
        #expect(!limits.allow(message(1_024, 10_001)))
    }

    /// The push with these members, which decodes the same wherever its `t` is, and over HTTP.
    private func push(_ members: String) throws -> Push {
        guard case .push(let push) = try ClientMessage.decode(Array(#"{"t":"push",\#(members)}"#.utf8)),
            case .push(let other) = try ClientMessage.decode(Array(#"{\#(members),"t":"push"}"#.utf8))
        else { throw WireError("not a push") }
        let client = GoldenFrames.second.description
        let call = try PushCall.decode(Array(#"{"client":"\#(client)","conn":1,\#(members)}"#.utf8))
        for same in [other, call.push] {
            #expect(same.entries.map(\.id) == push.entries.map(\.id))
            #expect(same.entries.map { $0.refusal?.code } == push.entries.map { $0.refusal?.code })
        }
        return push
    }

    @Test func `a bad transaction is refused alone, under its own id if that can be read`() throws {
        let good = String(decoding: TransactionCoding.encode(GoldenFrames.transaction), as: UTF8.self)
        let id = GoldenFrames.second.description
        let key = #""c":"notes","i":"\#(id)""#
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        let abyss = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
        let bad: [(String, RejectionCode)] = [
            ("null", .invalid), ("{}", .invalid), ("7", .invalid), (#"{"id":"\#(id)"}"#, .invalid),
            (#"{"id":"\#(id)","ops":[]}"#, .invalid), (#"{"id":"\#(id)","ops":[{}]}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"drop",\#(key)}]}"#, .unknownOperation),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"where":"1=1"}]}"#, .unknownOperation),
            (#"{"id":"\#(id)","ops":[{"o":"patch",\#(key),"f":{"a":1}}]}"#, .unknownOperation),
            (#"{"id":"\#(id)","ops":[{"o":"del",\#(key),"f":{}}]}"#, .unknownOperation),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{},"inc":{"a":1}}]}"#, .unknownOperation),
            (#"{"id":"\#(id)","ops":[{"o":"undel",\#(key),"f":{},"unset":["a"]}]}"#, .unknownOperation),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{"a":\#(deep)}}]}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{"a":\#(abyss)}}]}"#, .invalid),
            (#"{"id":"\#(id)","x":\#(abyss)}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{"a":\#(String(repeating: "9", count: 65))}}]}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{"a":1e999}}]}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{"a":1,"a":2}}]}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{"a":"\ud800"}}]}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"patch",\#(key),"add":{"a":1}}]}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"patch",\#(key),"keys":{"a":1}}]}"#, .invalid),
            (#"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{},"keys":{"a":{"b":1}}}]}"#, .unknownOperation),
            (#"{"id":"\#(id)","ops":[{"o":"patch",\#(key),"keys":{"a":{"b":1,"b":2}}}]}"#, .invalid),
            (
                #"{"id":"\#(id)","ops":["# + Array(repeating: #"{"o":"del",\#(key)}"#, count: 65).joined(separator: ",")
                    + "]}", .tooLarge
            ),
            (
                #"{"id":"\#(id)","ops":[{"o":"put",\#(key),"f":{"a":""# + String(repeating: "x", count: 300_000)
                    + #""}}]}"#, .tooLarge
            ),
        ]
        for (text, code) in bad {
            let push = try self.push(#""first":1,"acked":0,"m":[\#(good),\#(text),\#(good)]"#)
            #expect(push.entries.count == 3)
            #expect(push.entries[0] == Push.Entry(GoldenFrames.transaction))
            #expect(push.entries[2] == Push.Entry(GoldenFrames.transaction))
            guard case .failure(let rejection) = push.entries[1].content else {
                Issue.record("accepted: \(text.prefix(80))")
                continue
            }
            #expect(rejection.code == code, "\(rejection.message)")
            #expect(push.entries[1].id == (text.contains(id) ? GoldenFrames.second : nil))
        }
    }
}

extension Push.Entry {
    fileprivate var refusal: Rejection? {
        if case .failure(let rejection) = content { rejection } else { nil }
    }
}

extension `Hostile input` {
    @Test func `a refusal names its object in few bytes, and says what is wrong`() throws {
        // One character by Swift's count.
        let long = "e" + String(repeating: "\u{301}", count: 100_000)
        let id = GoldenFrames.second.description
        let key = #""c":"notes","i":"\#(id)""#
        let mutations: [(String, String)] = [
            (#"{"o":"put",\#(key),"\#(long)":1}"#, "no member"), (#"{"o":"\#(long)",\#(key)}"#, "is called"),
            (#"{"o":"patch",\#(key),"was":{"\#(long)":"x"}}"#, "takes marks"),
            (#"{"o":"patch",\#(key),"add":{"\#(long)":1}}"#, "take lists"),
        ]
        for (mutation, reason) in mutations {
            let push = try push(#""first":1,"acked":0,"m":[{"id":"\#(id)","ops":[\#(mutation)]}]"#)
            let message = try #require(push.entries.first?.refusal?.message)
            #expect(message.utf8.count <= 256 && message.contains(reason), "\(message.utf8.count)")
        }
        let unknown = #expect(throws: WireError.self) { try ClientMessage.decode(Array(#"{"t":"\#(long)"}"#.utf8)) }
        #expect(unknown?.description.utf8.count ?? .max <= 256)
    }
}
