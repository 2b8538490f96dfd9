package import TidemarkModel

/// Some entries of one record's ledger, newest first.
package struct LedgerPage: Hashable, Sendable {
    package var entries: [LedgerEntry]
    /// The head of the snapshot that the page was read in.
    package var at: Head
    /// True when no older entry exists.
    package var isLast: Bool

    package init(entries: [LedgerEntry], at: Head, isLast: Bool) {
        self.entries = entries
        self.at = at
        self.isLast = isLast
    }

    /// Cuts stored entries, newest first, to a page. Entries of one write stay together, so that the last entry's
    /// number can be passed on to ask for the next page. At least one write fits.
    ///
    /// - Parameter stored: all stored entries, or more than `limit`.
    package init(_ stored: [LedgerEntry], at head: Head, limit: Int, limits: StoreLimits) {
        let (oldest, overflows) = head.time.subtractingReportingOverflow(limits.ledgerLifetime)
        let valid = overflows ? stored : Array(stored.prefix { $0.time >= oldest })
        var end = 0
        var bytes = 0
        for (index, entry) in valid.enumerated() {
            bytes += entry.octets
            let begins = index == 0 || valid[index - 1].seq != entry.seq
            if begins { end = index }
            if index >= limits.pageRows(limit) || bytes > limits.readBytesMax, end > 0 {
                self.init(entries: Array(valid.prefix(end)), at: head, isLast: false)
                return
            }
        }
        self.init(entries: valid, at: head, isLast: true)
    }
}

extension LedgerEntry {
    /// The bytes of both values as JSON.
    package var octets: Int { (value.old?.json.utf8.count ?? 0) + (value.new?.json.utf8.count ?? 0) }
}

extension StoreLimits {
    /// Returns the number of the newest write that exceeds a record's bounds; it and all older ones are deleted. `nil`
    /// when all of them fit.
    package func ledgerGone(_ newestFirst: [LedgerEntry]) -> SequenceNumber? {
        var bytes = 0
        for (index, entry) in newestFirst.enumerated() {
            bytes += entry.octets
            if entry.seq != newestFirst.first?.seq, index >= ledgerEntriesMax || bytes > ledgerBytesMax {
                return entry.seq
            }
        }
        return nil
    }
}
