package import TidemarkModel
package import TidemarkStore
package import TidemarkWire

/// The answer to a `compare` in the making: pages are read one after the other, and each becomes a part of it, in the state
/// that it was read in.
package struct Comparison: Sendable {
    /// So many pages are read for one answer.
    private static let partsMax = 10

    package let request: CompareRequest
    /// The last state that a part was read in.
    package private(set) var at: SequenceNumber = 0
    private var answer: CompareAnswer
    private let rowsMax: Int
    private var end: SequenceNumber
    private var isWhole = false

    package init(_ request: CompareRequest, rowsMax: Int) {
        self.request = request
        self.rowsMax = rowsMax
        end = request.before ?? .max
        answer = CompareAnswer(
            id: request.id, scope: request.scope, since: request.since, collection: request.collection,
            parts: [], marks: request.lists ? [] : nil)
    }

    /// The page to read next; `nil` once the answer is whole.
    package var next: PageRequest? {
        guard !isWhole else { return nil }
        return PageRequest(
            id: request.id, scope: request.scope, since: request.since, collection: request.collection,
            before: end == .max ? nil : end, limit: rowsMax)
    }

    /// Takes the page that was asked for.
    ///
    /// - Parameter head: what had been delivered before the first page was read.
    /// - Returns: false when the page is of a database that has gone back since: the client has another history, of which
    ///   nothing can be said.
    package mutating func read(_ page: Page, after head: Head?) -> Bool {
        if let head, page.at.seq <= head.seq, page.at.nonce != head.nonce { return false }
        let records = page.records.prefix { $0.born >= request.from }
        let isLast = page.isLast || records.count < page.records.count
        let low = isLast ? request.from : records.last?.born ?? request.from
        var digest = RecordDigest()
        for record in records {
            let term = RecordDigest.term(of: record.key, at: record.seq, body: record.body)
            digest.insert(term)
            answer.marks?.append(
                .init(record: record.key.id, born: record.born, seq: record.seq, term: term))
        }
        answer.parts.append(.init(low: low, at: page.at.seq, digest: digest))
        at = max(at, page.at.seq)
        end = low
        isWhole = low == request.from || request.lists || answer.parts.count == Self.partsMax
        answer.next = low == request.from ? nil : low
        return true
    }

    /// The answer's bytes.
    package var bytes: [UInt8] { answer.encode() }
}
