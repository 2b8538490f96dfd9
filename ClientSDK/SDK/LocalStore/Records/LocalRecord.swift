import TidemarkModel

/// One record as this device knows it: the server's state, or that with pending writes on top.
struct LocalRecord: Hashable, Sendable {
    enum Existence: String, Sendable {
        /// Nothing is known of the record.
        case absent
        case live
        case deleted
    }

    var key: RecordKey
    var scope: ScopeID
    /// The number of the server's state; 0 while that is unknown.
    var seq: SequenceNumber = 0
    /// The `serverID`; `nil` until committed.
    var born: SequenceNumber?
    var author: UserID
    var created: Milliseconds
    /// The server time of the state; `nil` until committed.
    var updated: Milliseconds?
    var existence: Existence
    var fields = Fields()
    /// The fields that a pending write has deleted, for a restore of them; `nil` if this device does not know the
    /// deleted fields. Never stored: it follows from the server's state and the pending writes.
    var buried: Fields?
}

extension LocalRecord {
    /// Creates a record that the server does not know (yet).
    init(absent key: RecordKey, scope: ScopeID, author: UserID, created: Milliseconds) {
        self.init(key: key, scope: scope, author: author, created: created, existence: .absent)
    }

    /// - Parameter table: the table whose field names are used: a former name becomes the present one.
    init(_ change: Change, in table: CollectionTable? = nil) {
        self.init(
            key: change.key, scope: change.scope, seq: change.seq, born: change.born, author: change.author,
            created: change.created, updated: change.updated, existence: change.isDeleted ? .deleted : .live,
            fields: table.map { change.fields.renamed($0.renames) } ?? change.fields)
    }

    /// Folds one local mutation in; the same code validates a write and rebases it later.
    ///
    /// - Parameter user: the user of the mutation: the author of a record that they restore, except a scope's own
    ///   record.
    /// - Returns: the contested fields, which stay as they are: the server judges them alike.
    /// - Throws: the reason why the mutation does not apply to this state, which is unchanged then.
    @discardableResult
    mutating func apply(
        _ mutation: Mutation, in collection: CollectionSchema, by user: UserID? = nil
    ) throws(Rejection) -> [String] {
        switch mutation.action {
        case .create(let created):
            switch existence {
            case .live: throw Rejection(.idConflict, "\(key): the record exists already")
            case .deleted: throw Rejection(.gone, "\(key): the record was deleted; bring it back with undelete")
            case .absent:
                try become(try RecordMerge.created(created, in: collection, isService: false), in: collection)
            }
        case .undelete(let restored):
            guard existence != .live else { throw Rejection(.conflict, "\(key): the record is not deleted") }
            let written = try RecordMerge.restoring(restored, in: collection, isService: false)
            try become(
                try RecordMerge.restored(buried, with: written, in: collection, isService: false), in: collection)
            if let user, collection.scope != .ownRecord { author = user }
        case .update(let patches):
            try requireLive()
            let merged = try RecordMerge.merged(fields, patches, in: collection, isService: false)
            fields = merged.fields
            return merged.contested
        case .delete:
            try requireLive()
            existence = .deleted
            (buried, fields) = (fields, Fields())
        }
        return []
    }

    /// - Parameter canonical: the fields in canonical form.
    private mutating func become(_ canonical: Fields, in collection: CollectionSchema) throws(Rejection) {
        scope = try collection.scope(of: key.id, fields: canonical)
        fields = canonical
        existence = .live
        buried = nil
    }

    private func requireLive() throws(Rejection) {
        switch existence {
        case .live: return
        case .deleted: throw Rejection(.gone, "\(key): the record was deleted")
        case .absent: throw Rejection(.notFound, "\(key): no such record")
        }
    }
}
