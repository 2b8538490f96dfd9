package import TidemarkModel
package import TidemarkStore
package import TidemarkWire

/// The answer to a `compare` while it is built. Pages are read one after the other; each becomes a part of the answer,
/// in the state in which it was read.
package struct Comparison: Sendable {
    /// The maximum number of pages that are read for one answer.
    private static let partsMax = 10

    package let request: CompareRequest
    /// The last state in which a part was read.
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

    /// The page to read next; `nil` once the answer is complete.
    package var next: PageRequest? {
        guard !isWhole else { return nil }
        return PageRequest(
            id: request.id, scope: request.scope, since: request.since, collection: request.collection,
            before: end == .max ? nil : end, limit: rowsMax)
    }

    /// Adds the requested page.
    ///
    /// - Parameter head: the end of what had been delivered before the first page was read.
    /// - Returns: false when the page was read after the database went back: the client has another history, and they
    ///   cannot be compared.
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

    /// The encoded answer.
    package var bytes: [UInt8] { answer.encode() }
}
