import HTTPTypes
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkOperations
import TidemarkStore
import TidemarkWire

/// Compares a device's report with the stored records.
extension API {
    /// `POST /admin/v1/verify?workspace=W`: the body is the result of `SyncStore.exportReport()`.
    func adminVerify(_ query: AdminQuery, _ bytes: [UInt8]) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let report: CopyReport
        do {
            report = try CopyReport(decoding: bytes, limits: node.context.limits)
        } catch {
            throw APIError(.badRequest, "invalid", "report: \(error)")
        }
        let place = node.context.read(report.cursor, in: workspace)
        let snapshot = try await node.session(
            for: report.user, client: report.client, at: place?.proof, in: workspace)
        var facts = CopyStory.Facts(id: report.client, user: report.user, head: snapshot.head)
        facts.device = try await node.device(report.client, in: workspace)
        facts.position = place?.head.seq
        facts.isLost = place.map { snapshot.hasLost($0.proof) } ?? false
        if facts.device?.user == report.user, !facts.isLost {
            let position = place.flatMap { $0.head.seq >= snapshot.horizon ? $0.head.seq : nil }
            facts.scopes = try await compared(report, since: position, snapshot.grants, in: workspace)
        }
        let story = CopyStory(facts)
        var answer: Fields = ["answer": .string(story.answer.rawValue), "sentence": .string(story.sentence)]
        answer["lines"] = .array(story.lines.map { .string($0) })
        answer.put("text", story.text)
        answer.put("position", facts.position)
        answer.put("head", snapshot.head.seq)
        return answer
    }

    /// - Parameter position: the device's position; `nil` if the writes since then are not known. A difference then
    ///   proves nothing.
    private func compared(
        _ report: CopyReport, since position: SequenceNumber?, _ grants: [Grant], in workspace: WorkspaceID
    ) async throws -> [CopyStory.Scope] {
        let held = node.context.held(grants)
        var (scopes, found) = ([CopyStory.Scope](), [ScopeID: [CopyStory.Collection]]())
        let standing = report.scopes.filter { held[$0.scope]?.since == $0.since }
        var changed = try await changes(in: standing.map(\.scope), since: position, workspace)
        for scope in standing where !changed.contains(scope.scope) {
            for collection in scope.collections {
                let there = try await digest(of: collection, in: scope, workspace)
                found[scope.scope, default: []].append(
                    .init(name: collection.name, here: collection.digest, there: there))
            }
        }
        // Writes that happened during the read.
        changed.formUnion(try await changes(in: standing.map(\.scope), since: position, workspace))
        for scope in report.scopes {
            let state: CopyStory.Scope.State =
                if held[scope.scope]?.since != scope.since {
                    .grantChanged
                } else if changed.contains(scope.scope) {
                    .changed
                } else {
                    .compared(found[scope.scope] ?? [])
                }
            scopes.append(.init(scope: scope.scope, state: state))
        }
        return scopes
    }

    private func changes(
        in scopes: [ScopeID], since position: SequenceNumber?, _ workspace: WorkspaceID
    ) async throws -> Set<ScopeID> {
        guard let position else { return Set(scopes) }
        guard !scopes.isEmpty else { return [] }
        return try await node.readGate.pass { () async throws(StoreError) -> Set<ScopeID> in
            Set(try await node.store.changedScopes(among: scopes, after: position, in: workspace))
        }
    }

    /// Computes a digest page by page, each in its turn.
    private func digest(
        of collection: CopyReport.Collection, in scope: CopyReport.Scope, _ workspace: WorkspaceID
    ) async throws -> RecordDigest {
        var digest = RecordDigest()
        var before: SequenceNumber?
        while true {
            let page = try await node.page(
                PageRequest(
                    id: 0, scope: scope.scope, since: scope.since, collection: collection.name, before: before,
                    limit: Self.verifiedAtOnce), in: workspace)
            for record in page.records where record.born >= collection.from {
                digest.insert(record.key, at: record.seq, body: record.body)
            }
            guard !page.isLast, let last = page.records.last, last.born > collection.from else { return digest }
            before = last.born
        }
    }

    private static let verifiedAtOnce = 200
}

/// The members of a device's report that describe its copy.
struct CopyReport {
    struct Collection {
        var name: String
        var from: SequenceNumber
        var digest: RecordDigest
    }

    struct Scope {
        var scope: ScopeID
        var since: SequenceNumber
        var collections: [Collection]
    }

    var user: UserID
    var client: ClientID
    var cursor: String?
    var scopes: [Scope]
}

extension CopyReport {
    /// Parses a report; other members are ignored.
    init(decoding bytes: [UInt8], limits: WireLimits) throws {
        self = try JSONReader.read(bytes) { reader in
            var (user, client, cursor) = (UserID?.none, ClientID?.none, String?.none)
            var scopes: [Scope]?
            try reader.object { reader, key in
                switch key {
                case "account": user = UserID(checking: try reader.string())
                case "client": client = UniqueID(try reader.string())
                case "copy":
                    try reader.object { reader, key in
                        switch key {
                        case "cursor": cursor = try reader.string()
                        case "scopes": scopes = try Self.scopes(&reader, max: limits.scopesMax)
                        default: try reader.skip()
                        }
                    }
                default: try reader.skip()
                }
            }
            guard let user, let client else { throw reader.failure("\"account\" and \"client\" are required") }
            guard let scopes else {
                throw reader.failure(
                    "it has no \"copy\": make it with SyncStore.exportReport() of this version or later")
            }
            return CopyReport(user: user, client: client, cursor: cursor, scopes: scopes)
        }
    }

    private static func scopes(_ reader: inout JSONReader, max: Int) throws -> [Scope] {
        var scopes: [Scope] = []
        try reader.array { reader in
            guard scopes.count < max else { throw reader.failure("more than \(max) scopes") }
            var (name, since) = (ScopeID?.none, SequenceNumber(0))
            var collections: [Collection] = []
            try reader.object { reader, key in
                switch key {
                case "scope": name = ScopeID(checking: try reader.string())
                case "since": since = try reader.integer()
                case "collections":
                    try reader.array { reader in
                        guard collections.count < collectionsMax else { throw reader.failure("too many collections") }
                        collections.append(try collection(&reader))
                    }
                default: try reader.skip()
                }
            }
            guard let name else { throw reader.failure("a scope has no name") }
            // Each is read completely: a forged report must not have one read a thousand times.
            guard !scopes.contains(where: { $0.scope == name }), Set(collections.map(\.name)).count == collections.count
            else { throw reader.failure("scope \(name), or a collection in it, appears twice") }
            scopes.append(Scope(scope: name, since: since, collections: collections))
        }
        return scopes
    }

    private static let collectionsMax = 256

    private static func collection(_ reader: inout JSONReader) throws -> Collection {
        var (name, from, count, text) = ("", SequenceNumber(0), Int64(0), "")
        try reader.object { reader, key in
            switch key {
            case "collection": name = try reader.string()
            case "from": from = try reader.integer()
            case "records": count = try reader.integer()
            case "digest": text = try reader.string()
            default: try reader.skip()
            }
        }
        guard !name.isEmpty, let digest = RecordDigest(count: count, text: text) else {
            throw reader.failure("a collection has no name, or no digest of 32 hexadecimal digits")
        }
        return Collection(name: name, from: from, digest: digest)
    }
}
