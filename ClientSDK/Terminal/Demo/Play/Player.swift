import Foundation
import TidemarkCommandLine
import TidemarkModel

/// Plays a script on the devices, with the mishaps of the plan.
struct Player: Sendable {
    /// The number of messages between two looks at the plan; different devices write theirs at the same time.
    static let chunk = 48
    /// The longest time until a membership change arrives at its device, including a crash and the reconnection.
    static let admissionMax: Duration = .seconds(90)

    let company: Company
    let backstage: Backstage
    let notebook: Notebook
    let mishaps: Mishaps
    let seed: UInt64
    /// The start of the play, in milliseconds since 1970: messages follow one millisecond apart.
    let began: Milliseconds

    /// Plays everything; returns when the last message is in its device's database and no server is down.
    func play(_ script: ChatScript) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (kills, order) = AsyncStream.makeStream(of: Int.self)
            group.addTask { try await killServers(kills) }
            do {
                try await act(script, order)
            } catch {
                order.finish()
                throw error
            }
            order.finish()
            try await group.waitForAll()
        }
    }

    private func act(_ script: ChatScript, _ kills: AsyncStream<Int>.Continuation) async throws {
        var casting = Casting(devices: company.devices.count, seed: seed)
        var lines: [(device: Int, line: Cue.Line)] = []
        var killsLeft = mishaps.kills[...]
        var said = 0
        for event in script.events {
            for cue in casting.cues(for: event) {
                if case .say(let device, let line) = cue {
                    lines.append((device, line))
                    said += 1
                    guard lines.count >= Self.chunk else { continue }
                }
                try await speak(&lines)
                if case .say = cue {} else { try await direct(cue) }
                try await applyAbsences(at: said)
                while let next = killsLeft.first, next <= said {
                    killsLeft = killsLeft.dropFirst()
                    try await waitForKill(before: mishaps.kills.count - killsLeft.count)
                    kills.yield(mishaps.kills.count - killsLeft.count - 1)
                }
            }
        }
        try await speak(&lines)
        for _ in killsLeft { kills.yield(mishaps.kills.count - 1) }
    }

    /// Waits for the kill before this one, so that none is left for after the play.
    private func waitForKill(before number: Int) async throws {
        let isDone = try await eventually(atMost: Self.admissionMax) { backstage.killed >= number - 1 }
        guard isDone else { throw CommandFailure("a killed server did not come back") }
    }

    // MARK: Writing

    /// Writes the lines: those of one device in order, different devices at the same time.
    private func speak(_ lines: inout [(device: Int, line: Cue.Line)]) async throws {
        let batch = lines
        lines.removeAll(keepingCapacity: true)
        guard !batch.isEmpty else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, own) in Dictionary(grouping: batch, by: \.device) {
                let device = company.devices[index]
                group.addTask {
                    for (_, line) in own { try await say(line, on: device) }
                }
            }
            try await group.waitForAll()
        }
    }

    private func say(_ line: Cue.Line, on device: DemoDevice) async throws {
        let id = LoadTarget.newClient()
        let message = WrittenMessage(
            id: id, conversation: line.conversation, author: device.user, order: began + Int64(line.order),
            text: line.text)
        notebook.note(message, live: device.isLive ? company.live : 0)
        try await device.say(line, id: id, at: message.order)
    }

    // MARK: Conversations and their members

    private func direct(_ cue: Cue) async throws {
        switch cue {
        case .say: break
        case .open(let owner, let id, let name):
            try await company.devices[owner].open(id, name: name)
        case .enlist(let nick, let id, let owner, let isPresent):
            // The users of nicks have no device: there is nothing to wait for.
            try await company.devices[owner].change(id) { members in
                if isPresent { members.insert("nick:\(nick)") } else { members.remove("nick:\(nick)") }
            }
        case .admit(let index, let id, let owner):
            let (device, owner) = (company.devices[index], company.devices[owner])
            try bringOnline([device, owner])
            try await owner.change(id) { [user = device.user] in $0.insert(user) }
            try await expect(device, id, isMember: true)
        case .dismiss(let index, let id, let owner):
            let (device, owner) = (company.devices[index], company.devices[owner])
            try bringOnline([device, owner])
            // Its writes as a member must be at the server before its membership ends.
            let isEmpty = try await eventually(atMost: Self.admissionMax) { try device.pending() == 0 }
            guard isEmpty else { throw CommandFailure("the outbox of \(device.user) did not empty") }
            try await owner.change(id) { [user = device.user] in $0.remove(user) }
            try await expect(device, id, isMember: false)
        }
    }

    private func expect(_ device: DemoDevice, _ id: LocalID, isMember: Bool) async throws {
        let arrived = try await eventually(atMost: Self.admissionMax) { try await device.has(id) == isMember }
        guard arrived else {
            throw CommandFailure("\(device.user) was not told that it \(isMember ? "joined" : "left") a conversation")
        }
    }

    private func bringOnline(_ devices: [DemoDevice]) throws {
        for device in devices where !device.isOnline {
            notebook.disturb()
            try device.goOnline()
        }
    }

    // MARK: Mishaps

    private func applyAbsences(at said: Int) async throws {
        for absence in mishaps.absences {
            let device = company.devices[absence.device]
            let isAway = absence.from <= said && said < absence.until
            // Each absence begins once; a device that was called back for a membership change stays.
            if isAway, said - absence.from <= Self.chunk, device.isOnline {
                notebook.disturb()
                await device.goOffline()
            } else if said >= absence.until, said - absence.until <= Self.chunk, !device.isOnline {
                try bringOnline([device])
            }
        }
    }

    /// Executes the orders to kill one after the other.
    private func killServers(_ orders: AsyncStream<Int>) async throws {
        var generator = SplitMix(seed: seed ^ 0x6b69_6c6c)
        for await number in orders {
            // Only a server with traffic can be hit in the middle of something.
            _ = try await company.gather(atMost: Backstage.calmMax)
            try await ContinuousClock().sleep(for: .milliseconds(Int64.random(in: 0...150, using: &generator)))
            let pause = Duration.milliseconds(Int64.random(in: 50...400, using: &generator))
            try await backstage.kill(number % backstage.urls.count, downFor: pause, notebook)
        }
    }
}
