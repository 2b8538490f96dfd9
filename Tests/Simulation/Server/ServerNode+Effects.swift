import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

extension ServerNode {
    /// Carries effects out in order. Sessions are independent of each other: sorting by session makes the trace
    /// independent of the unspecified order of sets.
    func carryOut(_ effects: [SessionEffect]) {
        let ordered = effects.enumerated().sorted { ($0.element.session, $0.offset) < ($1.element.session, $1.offset) }
        for (_, effect) in ordered {
            if perhapsCrash() { return }
            switch effect {
            case .send(let id, let frame): send(frame, to: id)
            case .close(let id, let code, let reason): close(id, code, reason)
            case .awaitRoom(let id): awaitRoom(id)
            case .verify(let id, let token): verify(id, token)
            case .load(let id, let request): load(id, request)
            case .readWindow(let id, let request): readWindow(id, request)
            case .readPage(let id, _, let request): readPage(id, request)
            case .tell(_, let word): tell(word)
            case .noteDivergence(let id, let records):
                world.damages.told(records)
                self.world.log("s\(id) says that \(records) records were wrong")
            case .noteStuck(let id, let count): self.world.log("s\(id) says that it was stuck \(count) times")
            case .readHistory(let id, _, let request): readHistory(id, request)
            case .readComparison(let id, _, let comparison):
                read(comparison, for: id, after: hub.tail(of: World.workspace))
            case .submit(let id, _, let submission):
                if lane.append(submission, ticket: LaneTicket(.session(id), submission)) {
                    sequence()
                } else {
                    advance(.settled(id, .overloaded, pushEnd: submission.pushEnd))
                }
            }
        }
    }

    private func send(_ frame: Frame, to id: SessionID) {
        guard let connection = connections[id] else { return }
        world.signOuts.sending(frame.bytes, on: connection, from: self)
        connection.watch.sent(frame, on: connection, world)
        world.network.sendDown(connection, frame.bytes)
    }

    /// Messages are flushed on a later turn of the loop; a full socket reports by itself when it has room.
    private func awaitRoom(_ id: SessionID) {
        let lease = lease
        world.after(0) {
            guard lease.isHeld, self.connections[id]?.isBlocked == false else { return }
            self.advance(.writabilityChanged(id, isWritable: true))
        }
    }

    private func close(_ id: SessionID, _ code: CloseCode, _ reason: String) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        world.log("n\(number) closes c\(id) \(code.rawValue) \(reason)")
        world.signOuts.closed(connection, code, reason)
        let isForgotten =
            code == .clientUnknown && world.rewinds.count > 0 || code == .clientForked && world.files.areUsed
        // The hello may arrive after the client has connected again: then the client does not receive the close.
        let isHeard = connection.isOpenAtClient
        if code == .protocolViolation || code == .clientForked || code == .clientUnknown, !isForgotten, isHeard {
            world.broke(.exactlyOnce, "an honest client was closed with \(code.rawValue): \(reason)")
        }
        world.network.closeFromServer(connection, code: code, reason: reason)
        advance(.lost(id))
    }

    /// Sends a message to the other nodes, late or never.
    private func tell(_ word: NodeMessage) {
        for other in world.nodes where other.number != number {
            if world.isChaotic, random.chance(world.plan.faults.hintLost) { continue }
            world.after(random.within(5...400)) {
                if other.isUp { other.advance(.heard(World.workspace, word)) }
            }
        }
    }

    // MARK: Reads

    private func load(_ id: SessionID, _ request: LoadRequest) {
        connections[id]?.isNew = request.registers
        if judge(id) { return }
        guard tail != nil else { return whenFollowed.append { self.load(id, request) } }
        let lease = lease
        let delivered = tail?.head
        var registration: Registration?
        // Two reads, each of a state of its own, as over a pool of connections.
        let finish = {
            self.world.database.call(
                lease,
                {
                    $0.session(
                        for: request.user, client: request.client, holding: request.lineage, in: request.workspace)
                }
            ) { snapshot in
                guard var snapshot else { return self.loadFailed(id) }
                if let proof = snapshot.proof(by: request.place) {
                    return self.raise(proof, .cursor) { isDone in
                        guard isDone else { return self.loadFailed(id) }
                        self.readTail()
                        self.load(id, request)
                    }
                }
                if snapshot.lacks(delivered) {
                    self.readTail()
                    return self.loadFailed(id)
                }
                self.tail?.saw(snapshot.head.seq)
                snapshot.noteLoss(of: request.place, self.world.database.tables.lineage(of: request.workspace))
                let answer = LoadAnswer(snapshot: snapshot, registration: registration)
                self.findCommonEnd(id, request, answer, request.search(in: snapshot, self.context))
            }
        }
        guard request.registers else { return finish() }
        let now = clock
        world.database.call(
            lease, { $0.register(request.client, for: request.user, in: request.workspace, now: now) }
        ) { answer in
            guard let answer else { return self.loadFailed(id) }
            registration = answer
            finish()
        }
    }

    /// Makes one read in each step, each of a state of its own.
    private func findCommonEnd(
        _ id: SessionID, _ request: LoadRequest, _ answer: LoadAnswer, _ search: EndSearch?
    ) {
        var answer = answer
        guard var search, let seq = search.lookup else {
            answer.common = search?.end
            if judge(id) { return }
            advance(.loaded(id, answer))
            connections[id]?.isNew = false
            return
        }
        world.database.call(lease, { ($0.batch(holding: seq, in: request.workspace), true) }) { found in
            guard let (batch, _) = found else { return self.loadFailed(id) }
            search.found(batch)
            self.findCommonEnd(id, request, answer, search)
        }
    }

    private func loadFailed(_ id: SessionID) {
        advance(.loadFailed(id))
    }

    private func readWindow(_ id: SessionID, _ request: WindowRequest) {
        world.database.call(
            lease,
            { tables in
                Result { () throws(StoreError) in
                    try tables.window(
                        scopes: request.scopes, after: request.after, span: request.span, in: request.workspace)
                }
            }
        ) { found in
            // Nothing below the horizon is read.
            guard case .success(let window)? = found else { return self.loadFailed(id) }
            self.tail?.saw(window.head.seq)
            self.advance(.windowRead(id, window))
        }
    }

    private func readHistory(_ id: SessionID, _ request: HistoryRequest) {
        world.database.call(
            lease,
            {
                $0.history(
                    of: request.key, scope: request.scope, before: request.before ?? .max, limit: request.limit,
                    in: World.workspace)
            }
        ) { page in
            if let page { self.connections[id]?.watch.pageRead(request.id, at: page.at.seq) }
            if let page { self.tail?.saw(page.at.seq) }
            self.advance(.historyRead(id, request, page))
        }
    }

    private func readPage(_ id: SessionID, _ request: PageRequest) {
        world.database.call(
            lease,
            { tables in
                if let ids = request.ids {
                    return tables.page(
                        scope: request.scope, collection: request.collection, ids: ids, limit: request.limit,
                        in: World.workspace)
                }
                return tables.page(
                    scope: request.scope, collection: request.collection, before: request.before ?? .max,
                    limit: request.limit, in: World.workspace)
            }
        ) { page in
            if let page { self.connections[id]?.watch.pageRead(request.id, at: page.at.seq) }
            if let page { self.tail?.saw(page.at.seq) }
            self.advance(.pageRead(id, request, page))
        }
    }

    /// Reads a page in each step, each of a state of its own.
    private func read(_ comparison: Comparison, for id: SessionID, after head: Head?) {
        guard let request = comparison.next else {
            connections[id]?.watch.pageRead(comparison.request.id, at: comparison.at)
            tail?.saw(comparison.at)
            return advance(.compared(id, comparison, isRead: true))
        }
        world.database.call(
            lease,
            {
                $0.page(
                    scope: request.scope, collection: request.collection, before: request.before ?? .max,
                    limit: request.limit, in: World.workspace)
            }
        ) { page in
            var comparison = comparison
            guard let page, comparison.read(page, after: head) else {
                self.readTail()
                return self.advance(.compared(id, comparison, isRead: false))
            }
            self.read(comparison, for: id, after: head)
        }
    }
}

extension SessionEffect {
    var session: SessionID {
        switch self {
        case .send(let id, _), .close(let id, _, _), .awaitRoom(let id), .load(let id, _), .readWindow(let id, _),
            .verify(let id, _),
            .readPage(let id, _, _),
            .readHistory(let id, _, _),
            .readComparison(let id, _, _),
            .noteDivergence(let id, _),
            .noteStuck(let id, _),
            .submit(let id, _, _):
            id
        case .tell: .max
        }
    }
}
