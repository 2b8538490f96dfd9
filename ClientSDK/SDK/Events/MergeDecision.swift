public import Foundation
import TidemarkModel

/// The result for a record that was changed on this device and elsewhere before either side knew of the other.
public struct MergeDecision: Hashable, Sendable {
    /// The state that is shown from now on.
    public enum Resolution: String, Hashable, Sendable, CaseIterable {
        /// Other fields were changed elsewhere than here: both changes are kept.
        case bothKept = "both_kept"
        /// The same fields were changed: the local values stay on top until the server has decided.
        case localShown = "local_shown"
        /// The server decided, by the rules of the fields, on another value than was shown here.
        case serverDecided = "server_decided"
        /// The record was deleted elsewhere, together with the writes to it here.
        case deleted
    }

    /// The record's collection.
    public var collection: String
    /// The record's id.
    public var record: UUID
    /// The fields in question, sorted by name; empty when it is the whole record.
    public var fields: [String]
    /// The result.
    public var resolution: Resolution

    public init(collection: String, record: UUID, fields: [String], resolution: Resolution) {
        self.collection = collection
        self.record = record
        self.fields = fields
        self.resolution = resolution
    }

    /// The form in `SyncLogEvent.details`.
    var details: [String: String] {
        [
            "collection": collection, "record": record.uuidString.lowercased(),
            "fields": fields.joined(separator: ","), "resolution": resolution.rawValue,
        ]
    }
}

extension MergeDecision {
    /// A newer state of the server that met writes of this device.
    struct Meeting {
        /// The server's state before.
        var before: LocalRecord
        /// The server's state now.
        var now: LocalRecord
        /// The record as it was shown so far.
        var shown: LocalRecord?
        /// The writes that are still pending.
        var pending: [Mutation]
        /// The writes that the new state includes.
        var committed: [Mutation]
    }

    /// Creates the decision; `nil` if no other change matters: the usual echo of an own write.
    init?(_ meeting: Meeting) {
        let (before, now) = (meeting.before, meeting.now)
        collection = now.key.collection
        record = UUID(now.key.id)
        if meeting.committed.isEmpty {
            guard before.existence == .live else { return nil }
            if now.existence == .deleted {
                (fields, resolution) = ([], .deleted)
                return
            }
            let changed = Self.differing(before.fields, now.fields)
            guard !changed.isEmpty else { return nil }
            let contested = changed.intersection(Self.written(meeting.pending))
            fields = (contested.isEmpty ? changed : contested).sorted()
            resolution = contested.isEmpty ? .bothKept : .localShown
        } else {
            let written = Self.written(meeting.committed).subtracting(Self.written(meeting.pending))
            let replaced = written.intersection(Self.differing(meeting.shown?.fields ?? now.fields, now.fields))
            guard now.existence == .live, !replaced.isEmpty else { return nil }
            (fields, resolution) = (replaced.sorted(), .serverDecided)
        }
    }

    private static func written(_ mutations: [Mutation]) -> Set<String> {
        mutations.reduce(into: []) { names, mutation in
            if case .update(let patches) = mutation.action { names.formUnion(patches.map(\.field)) }
        }
    }

    private static func differing(_ one: Fields, _ other: Fields) -> Set<String> {
        Set((one.entries + other.entries).map(\.name)).filter { one[$0] != other[$0] }
    }
}
