import TidemarkModel

/// The order of one scope's records: by number for windows, by birth for pages.
///
/// A changed record is appended again, and its earlier entry becomes stale: an entry is valid only while its number is
/// its record's. Stale entries are swept when they outnumber the others.
struct ScopeIndex: Sendable {
    struct Entry: Sendable {
        var seq: SequenceNumber
        var key: RecordKey
    }

    private static let sweepMin = 64

    /// Rising in number; the last entry is never stale, unless its record was forgotten.
    private(set) var feed: [Entry] = []
    /// Births of each collection, rising.
    private(set) var births: [String: [Entry]] = [:]
    private var staleCount = 0

    /// Removes the entries of a forgotten record.
    mutating func remove(_ record: StoredRecord) {
        feed.removeAll { $0.key == record.key }
        births[record.key.collection]?.removeAll { $0.key == record.key }
    }

    mutating func append(_ record: StoredRecord, isReplacing: Bool, records: [RecordKey: StoredRecord]) {
        feed.append(Entry(seq: record.seq, key: record.key))
        if isReplacing {
            staleCount += 1
            if staleCount > Self.sweepMin, staleCount > feed.count / 2 {
                feed.removeAll { records[$0.key]?.seq != $0.seq }
                staleCount = 0
            }
        } else {
            var entries = births.removeValue(forKey: record.key.collection) ?? []
            entries.insert(Entry(seq: record.born, key: record.key), at: entries.firstIndex(above: record.born))
            births[record.key.collection] = entries
        }
    }
}

extension Array<ScopeIndex.Entry> {
    /// Returns the index of the first entry with a number above `seq`, in an array that rises.
    func firstIndex(above seq: SequenceNumber) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].seq <= seq { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
