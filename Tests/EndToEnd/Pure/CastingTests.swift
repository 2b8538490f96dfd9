import Testing

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// The devices that play each nick, and the times at which users are let in.
@Suite struct CastingTests {
    private func event(_ kind: ChatEvent.Kind, _ nick: String, _ day: String = "monday") -> ChatEvent {
        ChatEvent(day: day, kind: kind, nick: nick, text: kind == .message ? "hi" : "")
    }

    private func cues(_ events: [ChatEvent], devices: Int = 2) -> [Cue] {
        var casting = Casting(devices: devices, seed: 1)
        return events.flatMap { casting.cues(for: $0) }
    }

    @Test func `the first event of a day opens its conversation`() {
        let cues = cues([event(.message, "ann"), event(.message, "ann"), event(.message, "ann", "tuesday")])
        let opened = cues.compactMap { if case .open(let owner, _, let name) = $0 { "\(owner) \(name)" } else { nil } }
        #expect(opened == ["0 monday", "1 tuesday"])
    }

    @Test func `a speaker without a join is let in first, once`() {
        let cues = cues([event(.message, "ann"), event(.message, "bob"), event(.message, "bob")])
        let words = cues.map { cue in
            switch cue {
            case .open: "open"
            case .admit(let device, _, _): "admit \(device)"
            case .dismiss(let device, _, _): "dismiss \(device)"
            case .enlist(let nick, _, _, let isPresent): "\(isPresent ? "+" : "-")\(nick)"
            case .say(let device, let line): "\(device): \(line.order)"
            }
        }
        #expect(words == ["open", "+ann", "0: 0", "admit 1", "+bob", "1: 1", "1: 2"])
    }

    @Test func `a device leaves with the last of its nicks, and the owner stays`() {
        // Three nicks on two devices: ann and cid are played by device 0, the owner; bob and dan by device 1.
        let events = ["ann", "bob", "cid", "dan"].map { event(.message, $0) }
        let leaving = cues(
            events + [event(.leave, "bob"), event(.leave, "dan"), event(.leave, "ann"), event(.leave, "cid")])
        let dismissed = leaving.compactMap { if case .dismiss(let device, _, _) = $0 { device } else { nil } }
        #expect(dismissed == [1])
        let back = cues(events + [event(.leave, "bob"), event(.leave, "dan"), event(.message, "bob")])
        #expect(back.suffix(3).map { if case .admit = $0 { true } else { false } } == [true, false, false])
    }

    @Test func `a leave without a join means nothing`() {
        #expect(cues([event(.message, "ann"), event(.leave, "eve")]).count == 3)
    }

    @Test func `the same events and seed give the same cues`() {
        let events = ChatScript.slice.prefix(300).map { $0 }
        #expect(cues(events, devices: 5) == cues(events, devices: 5))
    }

    @Test func `the built-in slice is complete, and is repeated with other days and names`() throws {
        let slice = ChatScript.slice
        #expect(slice.count == 1_950)
        #expect(slice.count { $0.kind == .message && $0.text.isEmpty } == 0)
        let messages = slice.count { $0.kind == .message }
        let script = try ChatScript(slice, messages: messages + 10)
        #expect(script.events.count { $0.kind == .message } == messages + 10)
        #expect(Set(script.events.map(\.day)).count == 6)
        #expect(script.events.last?.day.hasSuffix("/2") == true)
        #expect(throws: CommandFailure.self) { try ChatScript([event(.join, "ann")], messages: 1) }
    }

    @Test func `a recorded line is parsed, and a wrong one is refused`() throws {
        let line = #"{"day":"d","time":"09:14","kind":"join","nick":"|Q-"}"#
        #expect(try ChatEvent(json: line[...]) == ChatEvent(day: "d", kind: .join, nick: "|Q-", text: ""))
        for wrong in [#"{"day":"d"}"#, #"{"day":"d","nick":"n","kind":"shout"}"#, "[]", "{"] {
            #expect(throws: (any Error).self) { try ChatEvent(json: wrong[...]) }
        }
    }

    @Test func `mishaps are spread over the play and never take every device away`() {
        for seed in UInt64(1)...50 {
            let mishaps = Mishaps(messages: 5_000, devices: 8, kills: 6, seed: seed)
            #expect(mishaps.kills.count == 6)
            #expect(mishaps.kills.sorted() == mishaps.kills)
            #expect(mishaps.kills.allSatisfy { (1..<5_000).contains($0) })
            for moment in stride(from: 0, to: 5_000, by: 50) {
                let away = mishaps.absences.filter { $0.from <= moment && moment < $0.until }
                #expect(away.count <= 2)
            }
        }
        #expect(Mishaps(messages: 100, devices: 1, kills: 0, seed: 1).absences.isEmpty)
    }
}
