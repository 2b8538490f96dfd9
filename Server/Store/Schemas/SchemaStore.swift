package import TidemarkModel

/// A schema document as it was put in force on a database, and which versions of apps are served since.
package struct SchemaRevision: Hashable, Sendable {
    /// 1 for the first one; each next one has the number after it.
    package var number: Int64
    /// The document's text.
    package var document: [UInt8]
    package var requirement: AppRequirement
    package var applied: Milliseconds
    /// Who did it and why, for people.
    package var note: String

    /// Bytes of a document.
    package static let documentBytesMax = 1_048_576
    /// Bytes of a note.
    package static let noteBytesMax = 1_024

    package init(
        number: Int64 = 1, document: [UInt8], requirement: AppRequirement = .none, applied: Milliseconds,
        note: String = ""
    ) {
        self.number = number
        self.document = document
        self.requirement = requirement
        self.applied = applied
        self.note = note
    }
}

/// What a server that starts finds.
package struct SchemaBeginning: Hashable, Sendable {
    package var newest: SchemaRevision?
    /// The document that it was started with is in force, or was at some time.
    package var isKnown: Bool

    package init(newest: SchemaRevision?, isKnown: Bool) {
        self.newest = newest
        self.isKnown = isKnown
    }
}

/// Devices that call themselves by the same app.
package struct AppCount: Hashable, Sendable {
    /// Name and version as the devices say them; `nil` for those that say none.
    package var app: String?
    package var devices: Int64
    /// When the last of them was noted to be there.
    package var seen: Milliseconds

    package init(app: String?, devices: Int64, seen: Milliseconds) {
        self.app = app
        self.devices = devices
        self.seen = seen
    }
}

/// What is counted of the stored records: those of each collection, and those that have a value in some fields.
package struct RecordCount: Hashable, Sendable {
    /// A field, by the names that the server stores.
    package struct Field: Hashable, Sendable {
        package var collection: String
        package var name: String

        package init(collection: String, name: String) {
            self.collection = collection
            self.name = name
        }
    }

    /// Where a step of counting ended; opaque.
    package enum Place: Hashable, Sendable {
        case row(Int64)
        case key(RecordKey, WorkspaceID)
    }

    /// Living records by collection.
    package var records: [String: Int64] = [:]
    /// Those that have a value there.
    package var values: [Field: Int64] = [:]
    /// Where the next step begins; `nil` when there is none.
    package var next: Place?

    package init() {}

    /// Adds what the next step counted, and goes on from where that ended.
    package mutating func add(_ step: RecordCount) {
        records.merge(step.records, uniquingKeysWith: +)
        values.merge(step.values, uniquingKeysWith: +)
        next = step.next
    }
}

/// Where the schemas of apps are kept, beside what they describe: one row for each that was put in force, for the whole
/// database. A ``Store`` may be one as well.
package protocol SchemaStore: Sendable {
    /// Keeps a revision if its number follows that of the newest one, and gives the newest. For the start: it may be called
    /// before what the other calls need is running, by many nodes at once; all of them are answered alike.
    func begin(with revision: SchemaRevision?) async throws(StoreError) -> SchemaBeginning

    /// The newest revision, if its number is above `number`.
    func revision(after number: Int64) async throws(StoreError) -> SchemaRevision?

    /// Keeps a revision if its number follows that of the newest one.
    ///
    /// - Returns: false, with nothing kept, when another one came between.
    func keep(_ revision: SchemaRevision) async throws(StoreError) -> Bool

    /// The apps of all clients that were seen after that time (``Store/saw(_:in:)``), the most frequent first, at most `limit`.
    func apps(seenAfter time: Milliseconds, limit: Int) async throws(StoreError) -> [AppCount]

    /// Counts on from a place, in one step that is bounded, over all workspaces.
    func count(_ fields: [RecordCount.Field], from place: RecordCount.Place?) async throws(StoreError) -> RecordCount
}
