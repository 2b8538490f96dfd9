package import TidemarkModel

extension Eraser {
    /// The fields that name users beside the store's own columns; all other fields of records are the app's.
    package struct UserPlan: Sendable {
        /// The collections whose records open scopes, with the fields that list members, by stored names.
        package var memberFields: [String: [String]]

        /// - Parameter schema: with the names that apps use.
        package init(schema: Schema) {
            let openers = schema.stored.collections.filter { $0.scope == .ownRecord }
            memberFields = Dictionary(
                openers.map { ($0.name, [$0.memberField, $0.adminField].compactMap { $0 }) }, uniquingKeysWith: { $1 })
        }
    }

    /// Erases a user of a workspace: clients, memberships, and the name wherever the store has put it. The user's
    /// writes stay under a random name, except in scopes without other members.
    ///
    /// - Returns: everything that was done; `nil` when the workspace does not exist.
    @discardableResult
    package func erase(
        _ user: UserID, in workspace: WorkspaceID, _ plan: UserPlan, tell: (Progress) -> Void = { _ in }
    ) async throws -> Progress? {
        let made = UserID("erased-" + surroundings.nonce().digits + surroundings.nonce().digits)
        let begun = try await patiently { () async throws(StoreError) in
            try await erasing.beginErasure(of: user, as: made, in: workspace, now: surroundings.now())
        }
        guard let alias = begun else { return nil }
        var progress = Progress()
        try await removeClients(of: user, in: workspace, &progress, tell)
        try await leaveScopes(user, in: workspace, plan, &progress, tell)
        progress.phase = .records
        try await rename(user, to: alias, in: workspace, &progress, tell)
        var step = ErasureStep(isDone: false)
        while !step.isDone {
            step = try await patiently { () async throws(StoreError) in
                try await erasing.eraseTraces(of: user, as: alias, in: workspace, limit: limits.stepRows)
            }
            progress.step = progress.step + step
            tell(progress)
            try await surroundings.pause(false)
        }
        progress.phase = .blobs
        while let blobs {
            let some = try await patiently { () async throws(StoreError) in
                try await blobs.eraseBlobs(by: user, in: workspace)
            }
            guard some.blobs > 0 else { break }
            progress.blobs.blobs += some.blobs
            progress.blobs.bytes += some.bytes
            tell(progress)
            try await surroundings.pause(false)
        }
        try await commit(ReadSet(), in: workspace) { state in batch(after: state.head) }
        try await endTraces(of: user, as: alias, in: workspace)
        try await scrub(&progress, tell)
        try await patiently { () async throws(StoreError) in try await erasing.endErasure(of: user, in: workspace) }
        // The erasure's mark named the user.
        try await scrub(&progress, tell)
        progress.phase = .done
        tell(progress)
        return progress
    }

    /// Erases the traces once more: the batches of the erasure itself named the user. Nodes are notified of them by the
    /// next batch at the latest.
    private func endTraces(of user: UserID, as alias: UserID, in workspace: WorkspaceID) async throws {
        var isDone = false
        while !isDone {
            isDone = try await patiently { () async throws(StoreError) in
                try await erasing.eraseTraces(of: user, as: alias, in: workspace, limit: limits.stepRows).isDone
            }
        }
    }

    /// Removes the user's clients: their devices can send nothing any more, whatever they still hold.
    private func removeClients(
        of user: UserID, in workspace: WorkspaceID, _ progress: inout Progress, _ tell: (Progress) -> Void
    ) async throws {
        while true {
            let some = try await patiently { () async throws(StoreError) in
                try await store.clients(of: user, in: workspace)
            }.prefix(limits.endsPerBatch).map(\.id)
            guard !some.isEmpty else { return }
            var reads = ReadSet()
            reads.clients = some
            let removed = try await commit(reads, in: workspace) { state in
                let going = some.filter { state.clients[$0]?.row.user == user }
                guard !going.isEmpty else { return nil }
                var removal = batch(after: state.head)
                removal.removals = going
                return removal
            }
            progress.clients += removed?.removals.count ?? 0
            tell(progress)
            try await surroundings.pause(false)
        }
    }

    /// Ends the user's memberships, each with the record that lists it; a scope without other members is emptied.
    private func leaveScopes(
        _ user: UserID, in workspace: WorkspaceID, _ plan: UserPlan, _ progress: inout Progress,
        _ tell: (Progress) -> Void
    ) async throws {
        let openers = Set(plan.memberFields.keys)
        while true {
            let grants = try await patiently { () async throws(StoreError) in
                try await store.session(for: user, client: nil, in: workspace)
            }.grants
            guard !grants.isEmpty else { return }
            for scope in grants.map(\.scope) {
                var reads = ReadSet()
                reads.records = Self.graves(of: scope, openers: openers).sorted()
                var isAlone = false
                let left = try await commit(reads, in: workspace) { state in
                    let opening = state.records.values.filter { $0.scope == scope && !$0.isDeleted }
                        .sorted { $0.key < $1.key }
                    // If no list names the user, nothing proves that the scope has no other members.
                    let listed = opening.flatMap { $0.members(plan.memberFields[$0.key.collection] ?? []) }
                    isAlone = !listed.isEmpty && listed.allSatisfy { $0 == .string(user.text) }
                    guard !isAlone else { return nil }
                    return leaving(user, scope, opening, plan, after: state.head)
                }
                if left != nil {
                    progress.ends += 1
                } else if isAlone {
                    _ = try await patiently { () async throws(StoreError) in
                        try await erasing.beginErasure(of: scope, in: workspace, now: surroundings.now())
                    }
                    try await empty(scope, in: workspace, openers: openers, &progress, tell)
                    progress.step.isDone = false
                    try await patiently { () async throws(StoreError) in
                        try await erasing.endErasure(of: scope, in: workspace, now: surroundings.now())
                    }
                }
                tell(progress)
                try await surroundings.pause(false)
            }
        }
    }

    private func leaving(
        _ user: UserID, _ scope: ScopeID, _ opening: [StoredRecord], _ plan: UserPlan, after base: Head
    ) -> CommittedBatch {
        var left = batch(after: base, ending: [user], of: scope)
        var seq = base.seq
        for var record in opening {
            guard let body = record.body(without: user, in: plan.memberFields[record.key.collection] ?? []) else {
                continue
            }
            seq += 1
            (record.seq, record.body) = (seq, body)
            left.records.append(record)
        }
        left.head.seq = max(seq, left.head.seq)
        return left
    }

    /// Writes the user's records again with the alias as their author: copies hold the author too.
    private func rename(
        _ user: UserID, to alias: UserID, in workspace: WorkspaceID, _ progress: inout Progress,
        _ tell: (Progress) -> Void
    ) async throws {
        var position: ErasurePlace?
        repeat {
            let page = try await patiently { [position] () async throws(StoreError) in
                try await erasing.records(by: user, in: workspace, after: position, limit: Self.renamedAtOnce)
            }
            position = page.next
            if !page.records.isEmpty {
                var reads = ReadSet()
                reads.records = page.records.map(\.key)
                let renamed = try await commit(reads, in: workspace) { state in
                    var again = batch(after: state.head)
                    var seq = state.head.seq
                    for var record in state.records.values.sorted(by: { $0.key < $1.key }) where record.author == user {
                        seq += 1
                        // A restore of what the erased user deleted is not possible.
                        (record.seq, record.author, record.buried) = (seq, alias, [])
                        again.records.append(record)
                    }
                    guard !again.records.isEmpty else { return nil }
                    again.head.seq = seq
                    return again
                }
                progress.renamed += renamed?.records.count ?? 0
                tell(progress)
            }
            try await surroundings.pause(false)
        } while position != nil
    }

    private static var renamedAtOnce: Int { 50 }
}

extension StoredRecord {
    /// Returns the elements of the record's lists of members; none for a body that cannot be parsed.
    fileprivate func members(_ fields: [String]) -> [FieldValue] {
        guard let all = try? JSONReader.read(body, { try $0.fields() }) else { return [] }
        return fields.flatMap { name -> [FieldValue] in
            if case .array(let elements)? = all[name] { elements } else { [] }
        }
    }

    /// Returns the body without the user in its lists; `nil` when none of the lists names the user, or the body cannot
    /// be parsed.
    fileprivate func body(without user: UserID, in fields: [String]) -> [UInt8]? {
        guard var all = try? JSONReader.read(body, { try $0.fields() }) else { return nil }
        var hasChanged = false
        for name in fields {
            guard case .array(let elements)? = all[name] else { continue }
            let others = elements.filter { $0 != .string(user.text) }
            guard others.count < elements.count else { continue }
            all[name] = .array(others)
            hasChanged = true
        }
        return hasChanged ? all.canonicalBytes : nil
    }
}

extension UInt64 {
    /// 16 hexadecimal digits.
    fileprivate var digits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
