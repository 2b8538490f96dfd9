package import TidemarkModel
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

extension Session {
    /// Handles `push`: checks bounds, admits it, and passes it to the sequencer in pieces that leave room for others.
    mutating func take(_ push: Push, bytes: Int, now: Milliseconds, into effects: inout [SessionEffect]) {
        guard let identity else { return }
        let limits = context.limits
        guard push.entries.count <= limits.pushTransactionsMax else {
            return close(
                .protocolViolation, "push: more than \(limits.pushTransactionsMax) transactions", into: &effects)
        }
        if isDraining {
            return send(.error(ErrorMessage(.draining, "the server is stopping", retryAfter: 0)), into: &effects)
        }
        guard pushesInFlight.count < limits.pushesInFlightMax else {
            let message = "push: \(limits.pushesInFlightMax) are being settled"
            return send(.error(ErrorMessage(.overloaded, message, retryAfter: context.timing.retry)), into: &effects)
        }
        guard !context.outgrowsOutcomes(push) else {
            let message = "push: \(limits.outcomesKeptMax) outcomes are not acknowledged"
            return send(.error(ErrorMessage(.overloaded, message, retryAfter: context.timing.retry)), into: &effects)
        }
        if let wait = bucket.takeInOrder(push.entries.count, now: now) {
            let message = "push: \(limits.transactionsPerSecond) transactions a second"
            return send(.error(ErrorMessage(.rateLimited, message, retryAfter: wait)), into: &effects)
        }
        let pieces = context.submissions(
            of: push, client: client, principal: identity.principal, connection: connection, bytes: bytes,
            app: app)
        pushesInFlight.append(push.first + Int64(push.entries.count) - 1)
        for piece in pieces { effects.append(.submit(id, identity.workspace, piece)) }
    }

    /// Handles the sequencer's outcome. The stream reports what took effect or was refused.
    ///
    /// - Parameter pushEnd: the number with which the push ends, once all of its pieces are decided.
    package mutating func settled(_ outcome: PushOutcome, pushEnd: Int64?, into effects: inout [SessionEffect]) {
        guard phase == .streaming else { return }
        // It is already gone if the stream reported it before.
        if let pushEnd, let index = pushesInFlight.firstIndex(of: pushEnd) { pushesInFlight.remove(at: index) }
        switch outcome {
        case .settled: break
        case .stale:
            // Nothing that comes on this connection could take effect any more.
            let reason = "push: a later connection or call of this client was seen"
            return close(.connectedElsewhere, reason, into: &effects)
        case .gap(let through):
            send(.error(ErrorMessage(.gap, "go on from \(through + 1)", settledThrough: through)), into: &effects)
        case .forked:
            return close(.clientForked, "a transaction number came back with other content", into: &effects)
        case .unknownClient:
            return close(.clientUnknown, "this client id is not registered for the user", into: &effects)
        case .unavailable:
            send(
                .error(ErrorMessage(.unavailable, "the store is not available", retryAfter: context.timing.retry)),
                into: &effects)
        case .overloaded:
            let message = "push: the workspace's queue is full, or too many outcomes are not acknowledged"
            send(.error(ErrorMessage(.overloaded, message, retryAfter: context.timing.retry)), into: &effects)
        }
        if isDraining, pushesInFlight.isEmpty { close(.goingAway, "draining", into: &effects) }
    }

    /// Handles `page`: access is judged now, when the read begins, and again when the page is complete.
    mutating func take(_ request: PageRequest, into effects: inout [SessionEffect]) {
        guard let identity else { return }
        var bounded = request
        bounded.limit = min(request.limit, context.limits.pageRowsMax)
        read(request.held, request.collection, .readPage(id, identity.workspace, bounded), into: &effects)
    }

    /// Begins a read, or queues it; if it is not permitted, the client gets an error.
    mutating func read(
        _ request: HeldAnswer.Request, _ collection: String, _ effect: SessionEffect,
        into effects: inout [SessionEffect]
    ) {
        guard grants[request.scope]?.since == request.since,
            context.admission.schema.isReadable(collection)
        else { return refuse(request, into: &effects) }
        guard reads.count < context.limits.pagesInFlightMax else {
            let message = "\(request.kind): \(context.limits.pagesInFlightMax) are being read"
            let error = ErrorMessage(.overloaded, message, request: request.id, retryAfter: context.timing.retry)
            return send(.error(error), into: &effects)
        }
        reads.append(.init(request: request, effect: effect))
        readNext(into: &effects)
    }

    /// Begins queued reads, up to the bound.
    private mutating func readNext(into effects: inout [SessionEffect]) {
        while phase == .streaming, let entry = reads.next(most: context.limits.pagesReadMax) {
            guard grants[entry.request.scope]?.since == entry.request.since else {
                reads.ended()
                refuse(entry.request, into: &effects)
                continue
            }
            effects.append(entry.effect)
        }
    }

    /// Handles a page that was read; it waits until the order has reached the state in which it was read (I-11).
    package mutating func pageRead(_ request: PageRequest, _ page: Page, into effects: inout [SessionEffect]) {
        guard phase == .streaming else { return }
        heldAnswers.append(HeldAnswer(request: request.held, at: page.at.seq, bytes: page.answer(to: request)))
        releasePages(into: &effects)
    }

    /// Handles a store failure of a page.
    package mutating func pageFailed(_ request: PageRequest, into effects: inout [SessionEffect]) {
        readFailed(request.id, into: &effects)
    }

    /// Handles a store failure of any read.
    mutating func readFailed(_ request: Int64, into effects: inout [SessionEffect]) {
        guard phase == .streaming else { return }
        reads.ended()
        let error = ErrorMessage(
            .unavailable, "the store is not available", request: request, retryAfter: context.timing.retry)
        send(.error(error), into: &effects)
        readNext(into: &effects)
    }

    /// Sends the pages whose state the order has reached, as far as the socket has room.
    package mutating func releasePages(upTo tail: SequenceNumber? = nil, into effects: inout [SessionEffect]) {
        guard !heldAnswers.isEmpty else { return }
        let reached = isLive ? max(position.seq, tail ?? 0) : position.seq
        while !outbound.isFull(context.limits), let index = heldAnswers.firstIndex(where: { $0.at <= reached }) {
            let answer = heldAnswers.remove(at: index)
            reads.ended()
            let request = answer.request
            // Before the snapshot's target is reached, the grants are still the earlier ones: the page may have been
            // read after their end.
            let isHeldThere = catchUp.map { $0.grants[request.scope]?.since == request.since } ?? true
            guard grants[request.scope]?.since == request.since, isHeldThere else {
                refuse(request, into: &effects)
                continue
            }
            give(Frame(answer.bytes), into: &effects)
        }
        readNext(into: &effects)
    }

    private mutating func refuse(_ request: HeldAnswer.Request, into effects: inout [SessionEffect]) {
        let message = "\(request.kind): no such scope, grant or collection for you"
        send(.error(ErrorMessage(.forbidden, message, request: request.id)), into: &effects)
    }
}

extension PageRequest {
    fileprivate var held: HeldAnswer.Request { .init(kind: "page", id: id, scope: scope, since: since) }
}
