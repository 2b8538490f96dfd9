import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore

/// Workspaces, scopes, and backups.
extension API {
    private static let membersPerStep = 1_000
    /// Steps of one search for the members of a scope: no index has them, and a large workspace has many memberships.
    private static let memberStepsMax = 50
    private static let membersShownMax = 1_000

    /// `GET /admin/v1/workspaces?after=&limit=`, in the order of their names.
    func adminWorkspaces(_ query: AdminQuery) async throws -> Fields {
        let place = try query.id("after", WorkspaceID.init(checking:))
        let limit = try query.limit(100, max: 500)
        let store = node.operating
        let found = try await node.readGate.pass { () async throws(StoreError) -> [WorkspaceFigures] in
            try await store.workspaces(after: place, limit: limit)
        }
        let now = node.now()
        var files: [WorkspaceID: BlobUsage] = [:]
        for workspace in found.map(\.workspace) {
            files[workspace] = try await node.readGate.pass { () async throws(StoreError) -> BlobUsage in
                try await node.blobs.store.usage(of: workspace)
            }
        }
        var answer = Fields()
        answer.put("now", now)
        answer.put(
            "workspaces",
            found.map { figures in
                var fields: Fields = [
                    "workspace": .string(figures.workspace.text), "head": .integer(figures.head.seq),
                    "epoch": .integer(figures.head.epoch), "written": .integer(figures.head.time),
                    "horizon": .integer(figures.horizon), "members": .integer(Int64(figures.members)),
                    "per_minute": .double((figures.perMinute(now: now) * 10).rounded() / 10),
                ]
                if let files = files[figures.workspace] {
                    fields.put("files", Int64(files.blobs))
                    fields.put("file_bytes", Int64(files.bytes))
                }
                // Only for a workspace that this node follows.
                if let followed = node.followed(figures.workspace) {
                    fields.put("lag", max(0, figures.head.seq - followed))
                }
                return fields
            })
        answer.put("more", found.count == limit)
        return answer
    }

    /// `GET /admin/v1/scope?workspace=&scope=`: its members, and the records that opened it.
    func adminScope(_ query: AdminQuery) async throws -> Fields {
        let workspace = try query.required("workspace", try query.workspace())
        let scope = try query.required("scope", try query.scope())
        let (users, isWhole) = try await members(of: scope, in: workspace)
        var answer: Fields = ["workspace": .string(workspace.text), "scope": .string(scope.text)]
        answer.put("shared", node.context.admission.schema.sharedScopes.contains(scope))
        answer.put("members", users.map { ["user": .string($0.text)] })
        answer.put("more", !isWhole)
        if let id = UniqueID(scope.text) {
            answer.put("records", try await node.operating.records(id, in: workspace).map(\.adminFields))
        }
        return answer
    }

    /// Returns at most ``membersShownMax`` members, and false if there may be more.
    func members(of scope: ScopeID, in workspace: WorkspaceID) async throws -> (users: [UserID], isWhole: Bool) {
        var (users, place): ([UserID], Seat?) = ([], nil)
        for _ in 0..<Self.memberStepsMax {
            let from = place
            let page = try await node.readGate.pass { () async throws(StoreError) -> MemberPage in
                try await node.operating.members(of: scope, in: workspace, after: from, limit: Self.membersPerStep)
            }
            users += page.users
            guard users.count <= Self.membersShownMax else { return (Array(users.prefix(Self.membersShownMax)), false) }
            guard let next = page.next else { return (users, true) }
            place = next
        }
        return (users, false)
    }

    /// `GET /admin/v1/backups?workspace=`: the age of the last verified backup of the database, and its number in a
    /// workspace.
    func adminBackups(_ query: AdminQuery) async throws -> Fields {
        var answer: Fields = ["now": .integer(node.now())]
        guard let log = node.parts.backups else {
            answer.put("known", false)
            return answer
        }
        answer.put("known", true)
        if let taken = try await log.lastVerifiedBackup() {
            answer.put("taken", taken)
            answer.put("age_seconds", max(0, node.now() - taken) / 1_000)
        }
        guard let workspace = try query.workspace() else { return answer }
        answer.put("workspace", workspace.text)
        let head = try await node.store.session(for: UserID("-"), client: nil, in: workspace).head
        answer.put("head", head.seq)
        if let backup = try await log.verifiedBackup(of: workspace) {
            answer.put("seq", backup.head.seq)
            answer.put("workspace_taken", backup.taken)
            answer.put("verified", backup.verified)
            answer.put("changes_since", max(0, head.seq - backup.head.seq))
        }
        return answer
    }
}

extension StoredRecord {
    /// The record without its fields.
    var adminFields: Fields {
        [
            "collection": .string(key.collection), "id": .string(key.id.description), "scope": .string(scope.text),
            "seq": .integer(seq), "born": .integer(born), "deleted": .boolean(isDeleted),
            "author": .string(author.text), "created": .integer(created), "updated": .integer(updated),
        ]
    }
}
