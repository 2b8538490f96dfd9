import NIOCore
import TidemarkHub
import TidemarkLock
package import TidemarkModel
import TidemarkSequencer
package import TidemarkStore

/// Questions to the other nodes that are in progress. Any thread.
final class DeviceQuestions: Sendable {
    private struct Question {
        /// Nodes that have not answered.
        var silent: Set<UInt64>
        var sights: [ClientID: DeviceSight] = [:]
        let done: AsyncStream<Void>.Continuation
    }

    private struct State {
        var questions: [Int64: Question] = [:]
        var number: Int64 = 0
    }

    /// The greatest number of questions at once; more are not asked.
    private static let questionsMax = 64
    private let state = Lock(State())

    /// - Returns: the question's number, and a stream that ends when all have answered; `nil` if too many are in
    ///   progress.
    fileprivate func begin(to nodes: Set<UInt64>) -> (number: Int64, done: AsyncStream<Void>)? {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        return state.withLock { state in
            guard state.questions.count < Self.questionsMax else { return nil }
            state.number += 1
            state.questions[state.number] = Question(silent: nodes, done: continuation)
            return (state.number, stream)
        }
    }

    /// Merges a node's answer; ignores one that is late or was not asked for.
    func answer(_ number: Int64, _ known: [ClientID: DeviceSight], from node: UInt64) {
        state.withLock { state in
            guard var question = state.questions[number], question.silent.remove(node) != nil else { return }
            for (id, sight) in known { question.sights[id, default: DeviceSight()].merge(sight) }
            if question.silent.isEmpty { question.done.finish() }
            state.questions[number] = question
        }
    }

    fileprivate func end(_ number: Int64) -> (silent: Set<UInt64>, sights: [ClientID: DeviceSight]) {
        state.withLock { state in
            guard let question = state.questions.removeValue(forKey: number) else { return ([], [:]) }
            question.done.finish()
            return (question.silent, question.sights)
        }
    }
}

/// Connections of devices on all nodes. A process knows its own, and asks the other nodes that follow the workspace.
/// This needs no writes: a node that died does not answer, and a minute later it is no longer listed as a follower.
extension Node {
    /// Asks all nodes what they know of some devices, each once in the list.
    package func sights(
        of devices: [ClientID], in workspace: WorkspaceID
    ) async throws(StoreError) -> DeviceSights {
        var found = DeviceSights()
        found.devices = await ownSights(of: devices, in: workspace)
        guard parts.isStoreShared, !devices.isEmpty else { return found }
        var asked = Set(try await operating.followers(of: workspace, now: now()))
        asked.remove(parts.id)
        found.others = asked.count
        var rest = devices[...]
        // A node that failed to answer once is not asked again.
        while !asked.isEmpty, !rest.isEmpty {
            let some = Array(rest.prefix(DeviceWord.devicesMax))
            rest = rest.dropFirst(some.count)
            let (silent, sights) = await ask(asked, of: some, in: workspace)
            asked.subtract(silent)
            found.silent += silent.count
            for (id, sight) in sights { found.devices[id, default: DeviceSight()].merge(sight) }
        }
        return found
    }

    private func ask(
        _ nodes: Set<UInt64>, of devices: [ClientID], in workspace: WorkspaceID
    ) async -> (silent: Set<UInt64>, sights: [ClientID: DeviceSight]) {
        guard let (number, done) = deviceQuestions.begin(to: nodes) else { return (nodes, [:]) }
        parts.relay.tell(DeviceWord(.question(devices), in: workspace, asker: parts.id, number: number).line)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in done {} }
            group.addTask { [limits, parts] in
                // The wait ends early when all have answered.
                try? await parts.environment.clock.sleep(for: limits.answerMax)
            }
            await group.next()
            group.cancelAll()
        }
        return deviceQuestions.end(number)
    }

    /// Handles another node's question or answer.
    func follow(_ word: DeviceWord) {
        switch word.content {
        case .answer(let known, let node):
            if word.asker == parts.id { deviceQuestions.answer(word.number, known, from: node) }
        case .question(let devices):
            background.start { [self] in
                let known = await ownSights(of: Array(devices.prefix(DeviceWord.devicesMax)), in: word.workspace)
                let answer = DeviceWord(
                    .answer(known, from: parts.id), in: word.workspace, asker: word.asker, number: word.number)
                parts.relay.tell(answer.line)
            }
        }
    }

    /// Returns the devices as this process knows them, without unknown ones.
    package func ownSights(of devices: [ClientID], in workspace: WorkspaceID) async -> [ClientID: DeviceSight] {
        var found: [ClientID: DeviceSight] = [:]
        var asked: [ObjectIdentifier: (inbox: HubInbox, clients: [(id: ClientID, session: SessionID)])] = [:]
        for id in devices {
            let client = ConnectionCounts.Client(workspace: workspace, client: id)
            if let latest = sightings.latest(client) { found[id, default: DeviceSight()].latest = latest }
            guard let place = connectionCounts.place(of: client) else { continue }
            asked[ObjectIdentifier(place.inbox), default: (place.inbox, [])].clients.append((id, place.session))
        }
        for (inbox, some) in asked.values {
            let connections = inbox.eventLoop.submit {
                some.compactMap { id, session in inbox.executor.value?.sight(of: session).map { (id, $0) } }
            }
            // A loop that has stopped has no connections.
            for (id, connection) in (try? await connections.get()) ?? [] {
                found[id, default: DeviceSight()].connection = connection
            }
        }
        let wanted = Set(devices)
        let closed = closedConnections.newest(.max) { closed in
            closed.row.workspace == workspace && closed.row.client.map(wanted.contains) ?? false
        }
        for one in closed {
            guard let id = one.row.client else { continue }
            guard found[id]?.endings.count ?? 0 < DeviceSight.endingsMax else { continue }
            found[id, default: DeviceSight()].endings.append(
                .init(
                    time: one.closed, code: one.code, reason: one.reason, stuck: one.row.stuck,
                    diverged: one.row.diverged))
        }
        return found
    }
}

extension HubExecutor {
    fileprivate func sight(of id: SessionID) -> DeviceSight.Connection? {
        guard let connection = connections[id], let session = hub.session(id) else { return nil }
        return .init(
            since: connection.since, position: session.position.seq, pending: Int64(session.unacknowledgedBytes),
            isSlow: connection.isSlow, stuck: session.stuck, diverged: session.diverged)
    }
}
