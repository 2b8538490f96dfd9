import GRDB
import TidemarkModel

extension Repository {
    /// Returns the parts of rejected writes for records of this collection, oldest first.
    ///
    ///     for edit in try await cards.rejected() where edit.differs(\.title) { try await edit.discard() }
    public func rejected() async throws -> [RejectedEdit<Model>] {
        try await store.read { snapshot in try snapshot.rejected(Model.self) }
    }

    /// The same, now and after each change of it or of the records.
    public func observeRejected() -> LiveValues<[RejectedEdit<Model>]> {
        LiveValues(
            store.database, of: ObservationOrigin("parked \(Model.collection)"),
            fetch: { [database = store.database] db in try database.rejectedEdits(of: Model.self, db) },
            map: { [store] edits in edits.map { RejectedEdit($0, store) } })
    }
}

extension StoreSnapshot {
    /// Returns the parts of rejected writes for records of a model's collection, oldest first.
    public func rejected<Model: SyncModel>(_ model: Model.Type) throws -> [RejectedEdit<Model>] {
        try store.database.rejectedEdits(of: model, db).map { RejectedEdit($0, store) }
    }
}

extension RejectedEdit {
    init(_ stored: StoredRejectedEdit, _ store: SyncStore) {
        let coding = ModelCoding<Model>(collection: stored.collection)
        self.stored = stored
        transaction = RejectedTransaction(store: store, stored: stored.transaction)
        let isLive = stored.written?.existence == .live
        // A record that the model cannot represent cannot be shown: the transaction has the fields.
        written = isLive ? stored.written.flatMap { try? coding.decoded($0, .failed) } : nil
        current = stored.current.flatMap { try? coding.decoded($0, .synced) }
        differing = stored.differing
        kind =
            switch (stored.mutations.first?.action, stored.mutations.last?.action) {
            case (_, .delete): .deleted
            case (.create, _): .created
            case (.undelete, _): .undeleted
            case (.update, _), (.delete, _), (nil, _): .changed
            }
    }
}

extension LocalDatabase {
    func rejectedEdits<Model: SyncModel>(of model: Model.Type, _ db: Database) throws -> [StoredRejectedEdit] {
        try StoredRejectedEdit.all(of: try table(Model.collection).collection, self, db)
    }
}
