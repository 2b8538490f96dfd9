import TidemarkModel

extension WorkspaceTables {
    /// Returns the index of the first batch that ends at or after `seq`.
    private func index(of seq: SequenceNumber) -> Int {
        var low = 0
        var high = batches.count
        while low < high {
            let middle = (low + high) / 2
            if batches[middle].head.seq < seq { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func batch(holding seq: SequenceNumber) -> Head? {
        let index = index(of: seq)
        return seq > 0 && index < batches.count ? batches[index].head : nil
    }

    func tail(after seq: SequenceNumber, limit: Int) -> TailRead {
        let first = index(of: seq < .max ? seq + 1 : seq)
        return TailRead(base: batch(holding: seq), batches: Array(batches[first...].prefix(max(limit, 0))))
    }

    func changedScopes(among asked: [ScopeID], after seq: SequenceNumber) throws(StoreError) -> [ScopeID] {
        guard seq >= horizon else { throw .compacted }
        return asked.filter { scope in scopes[scope]?.feed.last.map { $0.seq > seq } ?? false }
    }

    func window(
        scopes asked: [ScopeID], after seq: SequenceNumber, span: Int64, bytesMax: Int
    ) throws(StoreError) -> Window {
        guard seq >= horizon else { throw .compacted }
        let through = batch(holding: StoreLimits.target(after: seq, span: span)) ?? head
        let base = batch(holding: seq)
        var rows: [StoredRecord] = []
        for scope in Set(asked) {
            guard let feed = scopes[scope]?.feed else { continue }
            for entry in feed[feed.firstIndex(above: seq)...] {
                guard entry.seq <= through.seq else { break }
                if let record = records[entry.key], record.seq == entry.seq { rows.append(record) }
            }
        }
        rows.sort { $0.seq < $1.seq }
        let fitting = rows.fitting(bytesMax)
        guard fitting < rows.count, let first = rows.first else {
            return Window(records: rows, through: through, head: head, base: base)
        }
        // The window ends with the last batch that is wholly inside; if not even the first one is, it is cut within it.
        let broken = index(of: rows[fitting].seq)
        if broken > 0, batches[broken - 1].head.seq >= first.seq {
            let end = batches[broken - 1].head
            return Window(records: Array(rows.prefix { $0.seq <= end.seq }), through: end, head: head, base: base)
        }
        var end = batches[broken].head
        end.seq = rows[fitting - 1].seq
        return Window(records: Array(rows.prefix(fitting)), through: end, head: head, base: base)
    }

    func page(
        scope: ScopeID, collection: String, before: SequenceNumber, rowsMax: Int, bytesMax: Int
    ) -> Page {
        var rows: [StoredRecord] = []
        let births = scopes[scope]?.births[collection] ?? []
        let end = before > .min ? births.firstIndex(above: before - 1) : 0
        for entry in births[..<end].reversed() {
            guard let record = records[entry.key], !record.isDeleted else { continue }
            rows.append(record)
            if rows.count > rowsMax { break }
        }
        let count = min(rows.fitting(bytesMax), rowsMax)
        return Page(records: Array(rows.prefix(count)), at: head, isLast: count >= rows.count)
    }

    func page(scope: ScopeID, collection: String, ids: [LocalID], rowsMax: Int, bytesMax: Int) -> Page {
        var page = Page(records: [], at: head, isLast: true)
        var bytes = 0
        for id in ids.prefix(rowsMax) {
            if let record = records[RecordKey(collection: collection, id: id)], record.scope == scope,
                !record.isDeleted
            {
                bytes += record.body.count
                guard page.records.isEmpty || bytes <= bytesMax else { break }
                page.records.append(record)
            }
            page.answered += 1
        }
        page.isLast = page.answered == ids.count
        return page
    }
}

extension [StoredRecord] {
    /// Returns the number of rows from the front that fit into `bytes` of bodies; the first always does.
    fileprivate func fitting(_ bytes: Int) -> Int {
        var sum = 0
        for (index, record) in enumerated() {
            sum += record.body.count
            if sum > bytes, index > 0 { return index }
        }
        return count
    }
}
