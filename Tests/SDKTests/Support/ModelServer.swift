import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The simplest server that a client can be right or wrong against: one room, one order, no access rules.
struct ModelServer {
    let schema: Schema
    private(set) var head: SequenceNumber = 0
    private(set) var records: [RecordKey: LocalRecord] = [:]
    private(set) var settledThrough: Int64 = 0
    private var outcomes: [TransactionOutcome] = []
    let room = RecordKey.room(1).scope

    init() throws { schema = try TestSchema.schema() }

    /// Applies a transaction whole, or returns the reason for a refusal.
    mutating func accept(_ mutations: [Mutation], from author: String) -> Rejection? {
        var staged = records
        var seq = head
        for mutation in mutations {
            guard let collection = schema.collection(mutation.key.collection) else {
                return Rejection(.unknownCollection, "")
            }
            var record =
                staged[mutation.key]
                ?? LocalRecord(absent: mutation.key, scope: room, author: UserID(author), created: 1)
            do throws(Rejection) {
                try record.apply(mutation, in: collection)
            } catch {
                return error
            }
            seq += 1
            record.seq = seq
            record.born = record.born ?? seq
            record.updated = 1_000 + seq
            staged[mutation.key] = record
        }
        records = staged
        head = seq
        return nil
    }

    /// Settles the client's next transactions.
    mutating func settle(_ entries: [NumberedEntry], refusing isRefused: (Int64) -> Bool) throws {
        for entry in entries where entry.number > settledThrough {
            let transaction = try entry.entry.content.get()
            let rejection =
                isRefused(entry.number) ? Rejection(.quota, "") : accept(transaction.mutations, from: "ann")
            settledThrough = entry.number
            outcomes.append(
                TransactionOutcome(
                    number: entry.number, transaction: transaction.id, seq: head, time: 1_000 + head,
                    rejection: rejection))
        }
    }

    /// The frame from a cursor to the head, as catch-up sends it: states, not history.
    mutating func frame(from seq: SequenceNumber) -> Changes {
        let changes = records.values.filter { $0.seq > seq }.sorted { $0.seq < $1.seq }.map(change)
        let settled = outcomes.isEmpty ? nil : Settled(through: settledThrough, outcomes: outcomes)
        outcomes = []
        return .make(from: "s\(seq)", to: "s\(head)", changes, settled: settled)
    }

    /// A page of live notes as they are now.
    func page(before: SequenceNumber?, limit: Int) -> PageAnswer {
        let rest = records.values
            .filter { $0.key.collection == "notes" && $0.existence == .live && ($0.born ?? 0) < before ?? .max }
            .sorted { ($0.born ?? 0) > ($1.born ?? 0) }
        let rows = rest.prefix(limit)
        return PageAnswer(
            id: 1, scope: room, since: 1, collection: "notes", changes: rows.map(change),
            next: rest.count > limit ? rows.last?.born : nil)
    }

    private func change(_ record: LocalRecord) -> Change {
        Change(
            key: record.key, scope: record.scope, seq: record.seq, born: record.born ?? 0,
            isDeleted: record.existence == .deleted, author: record.author, created: record.created,
            updated: record.updated ?? 0, fields: record.fields)
    }
}

extension Mutation {
    /// Some mutation of one of a few notes, often one that does not apply.
    static func random(_ dice: inout SplitMix) -> Mutation {
        let key = RecordKey.note(dice.below(6))
        let word = FieldValue.string("w\(dice.below(4))")
        var fields = Fields()
        if dice.chance(70) { fields["text"] = word }
        if dice.chance(30) { fields["likes"] = .integer(Int64(dice.below(5))) }
        switch dice.below(10) {
        case 0, 1, 2: return .create(key, fields.inRoom(1))
        case 3: return .delete(key)
        case 4: return .undelete(key, fields.inRoom(1))
        case 5: return .update(key, [NamedPatch("likes", .increment(.integer(Int64(dice.below(5)))))])
        case 6:
            return .update(
                key, [NamedPatch("tags", .add([word])), NamedPatch("best", .max(.double(Double(dice.below(9)))))])
        case 7: return .update(key, [NamedPatch("tags", .remove([word])), NamedPatch("seen", .add([word]))])
        case 8: return .update(key, [NamedPatch("text", .unset)])
        default: return .set(key, "text", word)
        }
    }
}
