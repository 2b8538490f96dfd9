import GRDB
import TidemarkModel

extension Repository {
    /// Returns the parts of refused writes for records of this collection, oldest first.
    ///
    ///     for edit in try await cards.parked() where edit.differs(\.title) { try await edit.edit { $0.title = "short" } }
    public func parked() async throws -> [ParkedEdit<Model>] {
        try await store.read { snapshot in try snapshot.parked(Model.self) }
    }

    /// The same, now and after each change of it or of the records.
    public func observeParked() -> LiveValues<[ParkedEdit<Model>]> {
        LiveValues(
            store.database, of: ObservationOrigin("parked \(Model.collection)"),
            fetch: { [database = store.database] db in try database.parkedEdits(of: Model.self, db) },
            map: { [store] edits in edits.map { ParkedEdit($0, store) } })
    }
}

extension StoreSnapshot {
    /// Returns the parts of refused writes for records of a model's collection, oldest first.
    public func parked<Model: SyncModel>(_ model: Model.Type) throws -> [ParkedEdit<Model>] {
        try store.database.parkedEdits(of: model, db).map { ParkedEdit($0, store) }
    }
}

extension ParkedEdit {
    init(_ stored: StoredParkedEdit, _ store: SyncStore) {
        let coding = ModelCoding<Model>(collection: stored.collection)
        self.stored = stored
        transaction = ParkedTransaction(store: store, stored: stored.transaction)
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
    func parkedEdits<Model: SyncModel>(of model: Model.Type, _ db: Database) throws -> [StoredParkedEdit] {
        try StoredParkedEdit.all(of: try table(Model.collection).collection, self, db)
    }
}
