package import TidemarkModel

/// A schema document that was put in force on a database, and the versions of apps that are served since.
package struct SchemaRevision: Hashable, Sendable {
    /// 1 for the first revision, then counted without gaps.
    package var number: Int64
    /// The document's text.
    package var document: [UInt8]
    package var requirement: AppRequirement
    package var applied: Milliseconds
    /// The operator and the reason, for people.
    package var note: String

    /// The maximum number of bytes of a document.
    package static let documentBytesMax = 1_048_576
    /// The maximum number of bytes of a note.
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

/// The stored schemas that a starting server finds.
package struct SchemaBeginning: Hashable, Sendable {
    package var newest: SchemaRevision?
    /// True when the document that the server was started with is in force, or once was.
    package var isKnown: Bool

    package init(newest: SchemaRevision?, isKnown: Bool) {
        self.newest = newest
        self.isKnown = isKnown
    }
}

/// The number of devices that report the same app.
package struct AppCount: Hashable, Sendable {
    /// Name and version as the devices report them; `nil` for devices that report none.
    package var app: String?
    package var devices: Int64
    /// The time of the newest of their sightings.
    package var seen: Milliseconds

    package init(app: String?, devices: Int64, seen: Milliseconds) {
        self.app = app
        self.devices = devices
        self.seen = seen
    }
}

/// The counts of stored records: those of each collection, and those that have a value in certain fields.
package struct RecordCount: Hashable, Sendable {
    /// A field, by stored names.
    package struct Field: Hashable, Sendable {
        package var collection: String
        package var name: String

        package init(collection: String, name: String) {
            self.collection = collection
            self.name = name
        }
    }

    /// The last position of a step of counting; opaque.
    package enum Place: Hashable, Sendable {
        case row(Int64)
        case key(RecordKey, WorkspaceID)
    }

    /// Living records by collection.
    package var records: [String: Int64] = [:]
    /// Records that have a value in the field.
    package var values: [Field: Int64] = [:]
    /// The position from which the next step continues; `nil` when counting is complete.
    package var next: Place?

    package init() {}

    /// Adds the counts of the next step, and continues from its position.
    package mutating func add(_ step: RecordCount) {
        records.merge(step.records, uniquingKeysWith: +)
        values.merge(step.values, uniquingKeysWith: +)
        next = step.next
    }
}

/// Stores the schemas of apps, beside the records that they describe: one row for each that was put in force, for the
/// whole database. A ``Store`` may be one as well.
package protocol SchemaStore: Sendable {
    /// Keeps a revision if its number follows that of the newest one, and returns the newest. Servers call it when they
    /// start, before what the other calls need is running. Many nodes may do so at once; all get the same answer.
    func begin(with revision: SchemaRevision?) async throws(StoreError) -> SchemaBeginning

    /// Returns the newest revision, if its number is above `number`.
    func revision(after number: Int64) async throws(StoreError) -> SchemaRevision?

    /// Keeps a revision if its number follows that of the newest one.
    ///
    /// - Returns: false, with nothing kept, when another revision came in between.
    func keep(_ revision: SchemaRevision) async throws(StoreError) -> Bool

    /// Returns the apps of all clients that were seen after that time (``Store/saw(_:in:)``), the most frequent first,
    /// at most `limit`.
    func apps(seenAfter time: Milliseconds, limit: Int) async throws(StoreError) -> [AppCount]

    /// Continues counting from a position, in one bounded step, over all workspaces.
    func count(_ fields: [RecordCount.Field], from position: RecordCount.Place?) async throws(StoreError) -> RecordCount
}
