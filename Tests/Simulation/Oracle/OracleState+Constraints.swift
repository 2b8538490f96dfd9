import TidemarkModel

/// The constraints of notes, written by hand: at most five stars, and a stage that moves by its steps.
extension OracleState {
    /// Checks the notes of a transaction that has been applied, from the state before it.
    func checkNotes(of transaction: Transaction, from before: OracleState, by user: UserID) throws(Rejection) {
        for key in Set(transaction.mutations.map(\.key)).sorted() where key.collection == "notes" {
            guard let now = current(key), !now.isDeleted, history[key]?.count != before.history[key]?.count else {
                continue
            }
            let life = before.history[key]?.last(where: { !$0.isDeleted })
            let old = before.current(key) == nil ? nil : life?.fields
            if old?["stars"] != now.fields["stars"], case .integer(let stars)? = now.fields["stars"] {
                guard stars >= 0, stars <= 5 else { throw Rejection(.invalid, "\(stars) stars") }
            }
            try checkStage(from: old?["stage"], to: now.fields["stage"], in: now.scope, by: user)
        }
    }

    private func checkStage(
        from old: FieldValue?, to new: FieldValue?, in scope: ScopeID, by user: UserID
    ) throws(Rejection) {
        guard old != new else { return }
        switch (old, new) {
        case (nil, "open"), ("open", "doing"), ("open", "done"), ("doing", "done"): return
        case ("done", "open"):
            let role = timeline.grant(of: user, in: scope)?.role
            guard role == .admin || role == .owner else { throw Rejection(.forbidden, "admins open again") }
        default: throw Rejection(.invalid, "from \(old?.json ?? "nothing") to \(new?.json ?? "nothing")")
        }
    }
}
