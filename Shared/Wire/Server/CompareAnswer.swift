package import TidemarkModel

/// The server's digests of one collection in a scope, in parts, newest first; on request with the records of the first
/// part.
package struct CompareAnswer: Hashable, Sendable {
    /// The records that were created from the number `low` on, up to the beginning of the part before.
    package struct Part: Hashable, Sendable {
        package var low: SequenceNumber
        /// The number in the order at which they were read.
        package var at: SequenceNumber
        package var digest: RecordDigest

        package init(low: SequenceNumber, at: SequenceNumber, digest: RecordDigest) {
            self.low = low
            self.at = at
            self.digest = digest
        }
    }

    /// One record without its contents.
    package struct Mark: Hashable, Sendable {
        package var record: LocalID
        package var born: SequenceNumber
        package var seq: SequenceNumber
        /// The record's term in the digest.
        package var term: DigestSum

        package init(record: LocalID, born: SequenceNumber, seq: SequenceNumber, term: DigestSum) {
            self.record = record
            self.born = born
            self.seq = seq
            self.term = term
        }
    }

    package var id: Int64
    package var scope: ScopeID
    package var since: SequenceNumber
    package var collection: String
    package var parts: [Part]
    /// The records of the only part; `nil` if they were not requested.
    package var marks: [Mark]?
    /// The `before` of the next request; `nil` when all is answered.
    package var next: SequenceNumber?

    package init(
        id: Int64, scope: ScopeID, since: SequenceNumber, collection: String, parts: [Part],
        marks: [Mark]? = nil, next: SequenceNumber? = nil
    ) {
        self.id = id
        self.scope = scope
        self.since = since
        self.collection = collection
        self.parts = parts
        self.marks = marks
        self.next = next
    }

    /// True when its parts follow each other within the requested range, and cover it down to `next`.
    package func answers(_ request: CompareRequest) -> Bool {
        guard id == request.id, scope == request.scope, since == request.since, collection == request.collection,
            !parts.isEmpty, (marks != nil) == request.lists, !request.lists || parts.count == 1
        else { return false }
        var end = request.before ?? .max
        for part in parts {
            guard part.low < end, part.low >= request.from else { return false }
            end = part.low
        }
        guard next == nil ? end == request.from : next == end && end > request.from else { return false }
        return marks?.allSatisfy { $0.born >= end && $0.born < request.before ?? .max && $0.seq <= parts[0].at } ?? true
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 192 + parts.count * 72 + (marks?.count ?? 0) * 104)
        writer.integer("{\"t\":\"compared\",\"rid\":", id)
        writer.string(",\"scope\":", scope.text)
        writer.integer(",\"since\":", since)
        writer.string(",\"coll\":", collection)
        writer.array(",\"parts\":", parts) { writer, part in
            writer.byte(UInt8(ascii: "["))
            for number in [part.low, part.at, part.digest.count] {
                writer.integer(number)
                writer.byte(UInt8(ascii: ","))
            }
            writer.string(part.digest.text)
            writer.byte(UInt8(ascii: "]"))
        }
        if let marks {
            writer.array(",\"list\":", marks) { writer, mark in
                writer.byte(UInt8(ascii: "["))
                writer.id(mark.record)
                for number in [mark.born, mark.seq] {
                    writer.byte(UInt8(ascii: ","))
                    writer.integer(number)
                }
                writer.byte(UInt8(ascii: ","))
                writer.string(mark.term.text)
                writer.byte(UInt8(ascii: "]"))
            }
        }
        if let next { writer.integer(",\"next\":", next) }
        return writer.ended()
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> CompareAnswer {
        var scope: ScopeID?
        var answer = CompareAnswer(
            id: 0, scope: ScopeID("-"), since: 0, collection: "", parts: [])
        try MessageReader.members(of: bytes, "compared") { reader, key in
            switch key {
            case "rid": answer.id = try MessageReader.count(&reader)
            case "scope": scope = try MessageReader.name(&reader, ScopeID.self)
            case "since": answer.since = try MessageReader.count(&reader)
            case "coll": answer.collection = try reader.string()
            case "parts": answer.parts = try parts(&reader)
            case "list": answer.marks = try marks(&reader)
            case "next": answer.next = try MessageReader.count(&reader)
            default: try reader.skip()
            }
        }
        guard let scope else { throw WireError("compared: \"scope\" is required") }
        answer.scope = scope
        return answer
    }

    private static func parts(_ reader: inout JSONReader) throws -> [Part] {
        var parts: [Part] = []
        try reader.array { reader in
            var (low, at, count, sum) = (Int64(0), Int64(0), Int64(0), "")
            try MessageReader.tuple(
                &reader,
                [
                    { low = try MessageReader.count(&$0) }, { at = try MessageReader.count(&$0) },
                    { count = try MessageReader.count(&$0) }, { sum = try $0.string() },
                ])
            guard let digest = RecordDigest(count: count, text: sum) else { throw reader.failure("no digest") }
            parts.append(Part(low: low, at: at, digest: digest))
        }
        return parts
    }

    private static func marks(_ reader: inout JSONReader) throws -> [Mark] {
        var marks: [Mark] = []
        try reader.array { reader in
            var mark = Mark(record: UniqueID(high: 0, low: 0), born: 0, seq: 0, term: .zero)
            var term = ""
            try MessageReader.tuple(
                &reader,
                [
                    { mark.record = try MessageReader.id(&$0) }, { mark.born = try MessageReader.count(&$0) },
                    { mark.seq = try MessageReader.count(&$0) }, { term = try $0.string() },
                ])
            guard let digest = RecordDigest(count: 1, text: term) else { throw reader.failure("no digest") }
            mark.term = digest.sum
            marks.append(mark)
        }
        return marks
    }
}
