import GRDB
import TidemarkModel
import TidemarkWire

/// One numbered entry of the outbox.
struct OutboxEntry: Sendable {
    enum State: String, Sendable {
        /// Never handed out for sending.
        case queued
        /// Handed out: the server may have it.
        case sending
        /// Parked here while it was being sent: shown no more, but its number awaits the server's answer.
        case held
        /// Parked here before it was ever sent: only its number is sent, with nothing in it, since numbers have no
        /// gaps.
        case void
        /// Got no answer too often, or is behind one that did: still shown, but its number is sent with nothing in it.
        case withdrawn
        /// Certainly not accepted, or written behind such a transaction: shown, and without a wire number until it is
        /// released.
        case waiting
        /// Settled once, and lost by the server: being sent again, under its old number.
        case reoffered
        /// Accepted: kept in the journal until the server reports it as durable.
        case settled
        /// Refused: the journal keeps its number, so that those behind it keep theirs.
        case refused

        /// True for entries that are kept from being sent.
        var isWithheld: Bool {
            switch self {
            case .withdrawn, .waiting: true
            case .queued, .sending, .held, .void, .reoffered, .settled, .refused: false
            }
        }

        /// True for entries that are settled, and kept in case the server's database goes back.
        var isKept: Bool { self == .settled || self == .refused }
    }

    var number: Int64
    /// The index in the order of writing, which stays when the number changes.
    var written: Int64
    var id: TransactionID
    var body: String
    var created: Milliseconds
    var state: State

    static let columns = "n, written, id, body, created, state"

    init(_ row: Row) throws {
        number = try row.integer(0)
        written = try row.integer(1)
        id = try row.id(2)
        body = try row.text(3)
        created = try row.integer(4)
        guard let state = State(rawValue: try row.text(5)) else {
            throw StoreError(.corrupt, "outbox entry \(number) has no valid state")
        }
        self.state = state
    }

    func transaction() throws -> Transaction { try Self.transaction(body) }

    /// Parses a body that `text(_:)` wrote.
    static func transaction(_ body: String) throws -> Transaction {
        switch TransactionCoding.decode(Array(body.utf8), limits: .unlimited).content {
        case .success(let transaction): return transaction
        case .failure(let rejection): throw StoreError(.corrupt, "a stored transaction: \(rejection.message)")
        }
    }

    static func text(_ transaction: Transaction) -> String {
        String(decoding: TransactionCoding.encode(transaction), as: UTF8.self)
    }

    /// Rewrites the bodies that `change` changes, in the outbox with its journal and among the parked transactions:
    /// after the schema renamed something.
    static func rewriteBodies(_ db: Database, _ change: (Transaction) -> Transaction) throws {
        for table in ["tidemark_outbox", "tidemark_parked"] {
            for row in try db.all("SELECT id, body FROM \(table)") {
                let before = try transaction(try row.text(1))
                let after = change(before)
                guard after != before else { continue }
                try db.run("UPDATE \(table) SET body = ? WHERE id = ?", [text(after), try row.text(0)])
            }
        }
        try Journal(db: db).recount()
    }
}

extension ModelLimits {
    /// The limits for transactions that were accepted once: limits may have shrunk since.
    fileprivate static var unlimited: ModelLimits {
        var limits = ModelLimits()
        limits.mutationsMax = .max
        limits.transactionBytesMax = .max
        return limits
    }
}
