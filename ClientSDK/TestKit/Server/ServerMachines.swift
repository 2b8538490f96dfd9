import Crypto
import Tidemark
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// The server's own machines over tables in memory: a server process without sockets and threads.
///
/// Every call runs all its consequences and returns the output to send.
struct ServerMachines: Sendable {
    /// The output of the server.
    enum Output: Sendable {
        case frame(SessionID, [UInt8])
        case closed(SessionID, code: UInt16, reason: String)
    }

    static let workspace = WorkspaceID("test")
    private static let serviceClient = UniqueID(high: 0x7e57, low: 1)
    /// The lifetime of a token, in milliseconds; a token is the user's name.
    private static let tokenLife: Int64 = 3_600_000

    let schema: Schema
    let context: SessionContext
    private let sequencer: Sequencer
    private var hub: Hub
    private(set) var tables = MemoryTables()
    var blobs = BlobTables()
    private var lane: LaneQueue<SessionID?>
    private var lastNonce: UInt64 = 0
    private var lastWrite: Int64 = 0
    /// The error with which the tables refused a batch; such an error is a bug of the server.
    private(set) var failure: String?
    /// The number of records that devices reported as different.
    private(set) var diverged: Int64 = 0

    init(schema: Schema) {
        self.schema = schema
        var limits = WireLimits()
        limits.blobBytesMax = WireLimits.blobBytesDefault
        context = SessionContext(
            serverName: "testkit", schema: schema, limits: limits,
            seal: CursorSeal(key: SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
        sequencer = Sequencer(limits: limits.model)
        hub = Hub(context: context)
        lane = LaneQueue(limits: context.sequencing)
        follow()
    }

    /// Returns true when this session has received everything that it may see.
    func isLive(_ id: SessionID) -> Bool { hub.session(id)?.isLive == true }

    mutating func opened(_ id: SessionID, now: Milliseconds) -> [Output] {
        advance(now, .opened(id, headerToken: nil))
    }

    mutating func received(_ id: SessionID, _ bytes: [UInt8], now: Milliseconds) -> [Output] {
        advance(now, .received(id, bytes))
    }

    /// Handles a push outside its connection, as over HTTP; nobody waits for the answer.
    mutating func received(_ call: PushCall, from user: UserID, now: Milliseconds) -> [Output] {
        let pieces = context.submissions(
            of: call.push, client: call.client, principal: Principal(user: user), connection: call.connection, bytes: 0)
        for piece in pieces { _ = lane.append(piece, ticket: nil) }
        return advance(now)
    }

    mutating func lost(_ id: SessionID) {
        var effects: [SessionEffect] = []
        hub.apply(.lost(id), now: 0, into: &effects)
    }

    mutating func tick(now: Milliseconds) -> [Output] {
        advance(now, .tick)
    }

    /// Writes as a trusted backend; the result is visible in the changes.
    mutating func write(_ mutations: [Mutation], now: Milliseconds) -> [Output] {
        let service = UserID("testkit")
        if lastWrite == 0 { _ = tables.register(Self.serviceClient, for: service, in: Self.workspace, now: now) }
        lastWrite += 1
        let id = UniqueID.version7(milliseconds: now, random: (UInt64(lastWrite), 0))
        let entry = Push.Entry(Transaction(id: id, mutations: mutations, clientTime: now))
        let push = Push(first: lastWrite, ackedThrough: lastWrite - 1, entries: [entry])
        let pieces = context.submissions(
            of: push, client: Self.serviceClient, principal: Principal(user: service, isService: true), connection: 1,
            bytes: 0)
        for piece in pieces { _ = lane.append(piece, ticket: nil) }
        return advance(now)
    }

    // MARK: Life

    var backup: ServerBackup { ServerBackup(tables: tables, blobs: blobs, lastWrite: lastWrite) }

    /// Starts a new process on these tables. Nonces continue, as random ones would: they distinguish one history from
    /// another.
    mutating func restart(from backup: ServerBackup) {
        (tables, blobs, lastWrite) = (backup.tables, backup.blobs, backup.lastWrite)
        hub = Hub(context: context)
        lane = LaneQueue(limits: context.sequencing)
        follow()
    }

    private static func verdict(on token: String, now: Milliseconds) -> TokenVerdict {
        guard let user = UserID(checking: token) else { return .refused("the token names no user") }
        return .accepted(
            Identity(principal: Principal(user: user), workspace: workspace, expires: now + tokenLife))
    }

    private mutating func follow() {
        var effects: [SessionEffect] = []
        let head = tables.follow(Self.workspace, node: 1, now: 0)
        hub.apply(.follow(Self.workspace, head), now: 0, into: &effects)
    }

    // MARK: Carrying out

    private mutating func advance(_ now: Milliseconds, _ event: HubEvent? = nil) -> [Output] {
        var effects: [SessionEffect] = []
        if let event { hub.apply(event, now: now, into: &effects) }
        var outputs: [Output] = []
        while !effects.isEmpty || !lane.isEmpty {
            let current = effects
            effects = []
            for effect in current { carryOut(effect, now, &effects, &outputs) }
            if effects.isEmpty, !lane.isEmpty { commit(now, &effects) }
        }
        return outputs
    }

    private mutating func carryOut(
        _ effect: SessionEffect, _ now: Milliseconds, _ effects: inout [SessionEffect], _ outputs: inout [Output]
    ) {
        switch effect {
        case .send(let id, let frame): outputs.append(.frame(id, frame.bytes))
        case .close(let id, let code, let reason):
            outputs.append(.closed(id, code: code.rawValue, reason: reason))
            hub.apply(.lost(id), now: now, into: &effects)
        case .awaitRoom(let id): hub.apply(.writabilityChanged(id, isWritable: true), now: now, into: &effects)
        case .verify(let id, let token):
            hub.apply(.verified(id, Self.verdict(on: token, now: now)), now: now, into: &effects)
        case .load(let id, let request):
            let registration =
                request.registers
                ? tables.register(request.client, for: request.user, in: Self.workspace, now: now) : nil
            var snapshot = tables.session(
                for: request.user, client: request.client, holding: request.lineage, in: Self.workspace)
            if let proof = snapshot.proof(by: request.place) {
                beginEpoch(proof, now, &effects)
                snapshot = tables.session(
                    for: request.user, client: request.client, holding: request.lineage, in: Self.workspace)
            }
            var search = request.search(in: snapshot, context)
            while let seq = search?.lookup { search?.found(tables.batch(holding: seq, in: Self.workspace)) }
            snapshot.noteLoss(of: request.place, tables.lineage(of: Self.workspace))
            let answer = LoadAnswer(snapshot: snapshot, registration: registration, common: search?.end)
            hub.apply(.loaded(id, answer), now: now, into: &effects)
        case .readWindow(let id, let request):
            do {
                let window = try tables.window(
                    scopes: request.scopes, after: request.after, span: request.span, in: Self.workspace)
                hub.apply(.windowRead(id, window), now: now, into: &effects)
            } catch {
                hub.apply(.loadFailed(id), now: now, into: &effects)
            }
        case .readPage(let id, _, let request):
            let page =
                if let ids = request.ids {
                    tables.page(
                        scope: request.scope, collection: request.collection, ids: ids, limit: request.limit,
                        in: Self.workspace)
                } else {
                    tables.page(
                        scope: request.scope, collection: request.collection, before: request.before ?? .max,
                        limit: request.limit, in: Self.workspace)
                }
            hub.apply(.pageRead(id, request, page), now: now, into: &effects)
        case .readComparison(let id, _, let comparison): read(comparison, for: id, now, &effects)
        case .readHistory(let id, _, let request):
            let page = tables.history(
                of: request.key, scope: request.scope, before: request.before ?? .max, limit: request.limit,
                in: Self.workspace)
            hub.apply(.historyRead(id, request, page), now: now, into: &effects)
        case .noteDivergence(_, let records): diverged += records
        case .noteStuck, .tell:
            // There is only one node: nobody else has to be notified.
            break
        case .submit(let id, _, let submission):
            if !lane.append(submission, ticket: id) {
                hub.apply(.settled(id, .overloaded, pushEnd: submission.pushEnd), now: now, into: &effects)
            }
        }
    }

    private mutating func read(
        _ comparison: Comparison, for id: SessionID, _ now: Milliseconds, _ effects: inout [SessionEffect]
    ) {
        var comparison = comparison
        let head = hub.tail(of: Self.workspace)
        var isRead = true
        while isRead, let request = comparison.next {
            isRead = comparison.read(
                tables.page(
                    scope: request.scope, collection: request.collection, before: request.before ?? .max,
                    limit: request.limit, in: Self.workspace), after: head)
        }
        hub.apply(.compared(id, comparison, isRead: isRead), now: now, into: &effects)
    }

    /// Raises the epoch after a client has proved that the tables were set back.
    private mutating func beginEpoch(
        _ proof: EpochRaise.Condition, _ now: Milliseconds, _ effects: inout [SessionEffect]
    ) {
        lastNonce += 1
        let raise = EpochRaise(proof, reason: .cursor, nonce: lastNonce, now: now)
        do throws(TidemarkStore.StoreError) {
            guard case .raised(_, let head) = try tables.raiseEpoch(raise, in: Self.workspace) else { return }
            let batch = CommittedBatch(low: head.seq, head: head)
            let cursor = context.seal.cursor(head, workspace: Self.workspace.text)
            hub.apply(.committed(Self.workspace, DeliveryBatch(batch, cursor: cursor)), now: now, into: &effects)
        } catch {
            failure = failure ?? "\(error)"
        }
    }

    private mutating func commit(_ now: Milliseconds, _ effects: inout [SessionEffect]) {
        let elements = lane.take()
        let submissions = elements.map(\.submission)
        lastNonce += 1
        let base = tables.read(sequencer.reads(for: submissions), in: Self.workspace)
        let plan = sequencer.plan(submissions, on: base, now: now, nonce: lastNonce)
        if let batch = plan.batch {
            do throws(TidemarkStore.StoreError) {
                try tables.write(batch, in: Self.workspace)
            } catch {
                failure = failure ?? "\(error)"
                return
            }
            let cursor = context.seal.cursor(batch.head, workspace: Self.workspace.text)
            hub.apply(.committed(Self.workspace, DeliveryBatch(batch, cursor: cursor)), now: now, into: &effects)
        }
        let left = elements.indices.compactMap { index in
            plan.left[index].map { LaneQueue.Element($0, ticket: elements[index].ticket) }
        }
        lane.putBack(left)
        for (index, element) in elements.enumerated() where plan.left[index] == nil {
            guard let id = element.ticket else { continue }
            hub.apply(.settled(id, plan.outcomes[index], pushEnd: element.submission.pushEnd), now: now, into: &effects)
        }
    }
}
