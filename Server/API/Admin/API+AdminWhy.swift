import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkOperations
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// Why a user does not see a record, and what a device is stuck on: facts are read here, and judged as values.
extension API {
    private static let devicesMax = 200
    private static let endedMax = 1_000
    private static let refusalsMax = 50

    /// `GET /admin/v1/why?workspace=&user=&record=[COLLECTION/]ID`.
    func adminWhy(_ query: AdminQuery) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let user = try query.required("user", try query.user())
        let name = try query.required("record", try query.id("record", RecordName.init))
        let (facts, sights) = try await whyFacts(user, name, in: workspace)
        let story = WhyStory(facts)
        var answer: Fields = ["answer": .string(story.answer.rawValue)]
        answer.put("sentence", story.sentence)
        answer.put("sections", story.sections.map(\.fields))
        answer.put("text", story.text)
        answer.put(sights)
        let listed = try await node.listed(story.devices.map(\.device), sights, in: workspace)
        answer.put(
            "devices",
            zip(listed, story.devices).map { device, line in
                var fields = device.fields
                fields.put("state", line.state.rawValue)
                fields.put("position", line.position)
                return fields
            })
        return answer
    }

    private func whyFacts(
        _ user: UserID, _ name: RecordName, in workspace: WorkspaceID
    ) async throws -> (WhyFacts, DeviceSights) {
        let store = node.operating
        let snapshot = try await node.store.session(for: user, client: nil, in: workspace)
        var facts = WhyFacts(
            workspace: workspace, user: user, id: name.id, now: node.now(), schema: node.context.inForce.schema,
            head: snapshot.head)
        facts.horizon = snapshot.horizon
        facts.grants = snapshot.grants
        facts.leftOut = node.context.leftOut(snapshot.grants)
        facts.records = try await records(name, in: workspace)
        facts.ended = try await store.endedMemberships(of: user, scope: nil, in: workspace, limit: Self.endedMax)
        if let record = facts.records.first(where: { !$0.isDeleted }) ?? facts.records.first {
            facts.ledger = try await ledger(of: record, in: workspace)
            facts.history = try await history(of: record, ledger: facts.ledger, in: workspace)
            facts.isLeftOut = facts.leftOut > 0 && node.context.held(facts.grants)[record.scope] == nil
            facts.isScopeErased = record.isDeleted && record.author == .erased
        }
        let devices = try await node.operating.devices(
            of: user, in: workspace, after: nil, limit: Self.devicesMax)
        let sights = try await node.sights(of: devices.map(\.id), in: workspace)
        facts.devices = sights.brought(to: devices)
        for device in facts.devices {
            // A device that is back with a later token is connected, and this is not used then.
            facts.revoked[device.id] = node.revocations.notBefore(of: device.id, user: user, in: workspace)
        }
        facts.connections = devices.compactMap { sights.connection(of: $0.id) }
        facts.closings = devices.flatMap { sights.closings(of: $0.id) }
        (facts.others, facts.silent) = (sights.others, sights.silent)
        facts.refusals = try await refusals(of: facts.devices, in: workspace)
        return (facts, sights)
    }

    /// `GET /admin/v1/device?workspace=&client=`: what it is stuck on.
    func adminDevice(_ query: AdminQuery) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let client = try query.required("client", try query.client())
        let head = try await node.store.session(for: UserID("-"), client: nil, in: workspace).head
        var facts = DeviceStory.Facts(id: client, workspace: workspace, now: node.now(), head: head)
        let stored = try await node.device(client, in: workspace)
        let sights = try await node.sights(of: [client], in: workspace)
        facts.device = stored.flatMap { sights.brought(to: [$0]).first }
        let listed = try await node.listed([stored].compactMap(\.self), sights, in: workspace).first
        if let device = facts.device {
            facts.revokedBefore = node.revocations.notBefore(of: client, user: device.user, in: workspace)
            facts.appMinimum =
                node.context.minimum(for: device.app, of: Principal(user: device.user))?.description
            facts.refusals = try await refusals(of: [device], in: workspace)
            (facts.unsent, facts.lag) = (listed?.pending, listed?.lag)
        }
        facts.connection = sights.connection(of: client)
        facts.closings = sights.closings(of: client)
        (facts.others, facts.silent) = (sights.others, sights.silent)
        let story = DeviceStory(facts)
        var answer: Fields = ["answer": .string(story.answer.rawValue)]
        answer.put("sentence", story.sentence)
        answer.put("sections", story.sections.map(\.fields))
        answer.put("text", story.text)
        answer.put(sights)
        if let listed { answer["device"] = .object(listed.fields) }
        return answer
    }

    /// `GET /admin/v1/search?workspace=&q=`: the user, device, record or scope that a text names.
    func adminSearch(_ query: AdminQuery) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let text = try query.required("q", query.text("q"))
        var hits: [Fields] = []
        if let name = RecordName(text) {
            hits += try await records(name, in: workspace).map { record in
                ["kind": "record", "name": .string("\(record.key)"), "scope": .string(record.scope.text)]
            }
            if let device = try await node.device(name.id, in: workspace) {
                hits.append([
                    "kind": "device", "name": .string(name.id.description), "user": .string(device.user.text),
                ])
            }
        }
        if let user = UserID(checking: text) {
            let snapshot = try await node.store.session(for: user, client: nil, in: workspace)
            let devices = try await node.operating.devices(of: user, in: workspace, after: nil, limit: 1)
            if !snapshot.grants.isEmpty || !devices.isEmpty {
                hits.append([
                    "kind": "user", "name": .string(text), "memberships": .integer(Int64(snapshot.grants.count)),
                ])
            }
        }
        if let scope = ScopeID(checking: text) {
            let isShared = node.context.admission.schema.sharedScopes.contains(scope)
            let members = try await members(of: scope, in: workspace).users
            if isShared || !members.isEmpty {
                hits.append([
                    "kind": "scope", "name": .string(text), "members": .integer(Int64(members.count)),
                ])
            }
        }
        return ["workspace": .string(workspace.text), "hits": .array(hits.map { .object($0) })]
    }

    // MARK: Facts

    /// Returns the refusals that the store still keeps for the devices, and those that this process remembers.
    private func refusals(of devices: [Device], in workspace: WorkspaceID) async throws -> [WhyFacts.Refusal] {
        var found: [WhyFacts.Refusal] = []
        for device in devices {
            let remembered = refusedWrites(Self.refusalsMax) { refused in
                refused.workspace == workspace && refused.client == device.id
            }
            let records = Dictionary(remembered.map { ($0.transaction, $0.records) }, uniquingKeysWith: { $1 })
            var owed: [Int64: TransactionOutcome] = [:]
            if device.settledThrough > device.ackedThrough {
                let snapshot = try await node.store.session(for: device.user, client: device.id, in: workspace)
                for result in snapshot.results where result.rejection != nil { owed[result.number] = result }
            }
            for result in owed.values.sorted(by: { $0.number > $1.number }).prefix(Self.refusalsMax) {
                guard let rejection = result.rejection else { continue }
                found.append(
                    WhyFacts.Refusal(
                        client: device.id, number: result.number, time: result.time, rejection: rejection,
                        records: records[result.number] ?? [], isOwed: true))
            }
            found += remembered.filter { owed[$0.transaction] == nil }.map {
                WhyFacts.Refusal(
                    client: device.id, number: $0.transaction, time: $0.time, rejection: $0.rejection,
                    records: $0.records, isOwed: false)
            }
        }
        return found.sorted { ($0.time, $0.number) > ($1.time, $1.number) }
    }
}

extension DeviceSights {
    fileprivate func connection(of device: ClientID) -> WhyFacts.Connection? {
        devices[device]?.connection.map {
            WhyFacts.Connection(
                client: device, position: $0.position, isSlow: $0.isSlow, pending: $0.pending, stuck: $0.stuck,
                diverged: $0.diverged)
        }
    }

    fileprivate func closings(of device: ClientID) -> [WhyFacts.Closing] {
        (devices[device]?.endings ?? []).map {
            WhyFacts.Closing(
                client: device, time: $0.time, code: $0.code, reason: $0.reason, stuck: $0.stuck,
                diverged: $0.diverged)
        }
    }
}

extension Fields {
    /// Adds the number of servers that were asked, with this one, and of those that did not answer.
    mutating func put(_ sights: DeviceSights) {
        put("servers", Int64(sights.others + 1))
        put("silent", Int64(sights.silent))
    }
}

extension WhyStory.Section {
    var fields: Fields { ["heading": .string(heading), "lines": .array(lines.map { .string($0) })] }
}
