public import Foundation
import TidemarkModel

/// A record that was changed on this device and elsewhere before either side knew of the other, and what came of it.
public struct MergeDecision: Hashable, Sendable {
    /// What is shown from now on.
    public enum Resolution: String, Hashable, Sendable, CaseIterable {
        /// Other fields were changed elsewhere than here: both changes stand.
        case bothKept = "both_kept"
        /// The same fields: what was written here stays on top until the server has decided.
        case localShown = "local_shown"
        /// The server decided, by the rules of the fields, on another value than was shown here.
        case serverDecided = "server_decided"
        /// The record was deleted elsewhere, and with it what was written to it here.
        case deleted
    }

    /// The record's collection.
    public var collection: String
    /// The record's id.
    public var record: UUID
    /// The fields in question, sorted by name; none when the whole record is.
    public var fields: [String]
    /// What came of it.
    public var resolution: Resolution

    public init(collection: String, record: UUID, fields: [String], resolution: Resolution) {
        self.collection = collection
        self.record = record
        self.fields = fields
        self.resolution = resolution
    }

    /// As `SyncLogEvent.details` has it.
    var details: [String: String] {
        [
            "collection": collection, "record": record.uuidString.lowercased(),
            "fields": fields.joined(separator: ","), "resolution": resolution.rawValue,
        ]
    }
}

extension MergeDecision {
    /// A newer word of the server met writes of this device.
    struct Meeting {
        /// What the server had said before.
        var before: LocalRecord
        /// What it says now.
        var now: LocalRecord
        /// What was shown so far.
        var shown: LocalRecord?
        /// Writes that go on waiting.
        var pending: [Mutation]
        /// Writes that the new word includes.
        var committed: [Mutation]
    }

    /// `nil` when nobody else had changed anything that matters: the usual echo of an own write.
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
