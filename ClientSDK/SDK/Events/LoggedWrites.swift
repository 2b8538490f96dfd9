public import TidemarkModel

/// A summary of transactions, by kind of record and operation, with counts. It names no records, and has no values.
///
///     "messages create 2, receipts update 1"
public struct LoggedWrites: Hashable, Sendable, CustomStringConvertible {
    /// An operation on a record.
    public enum Operation: String, Hashable, Sendable, CaseIterable {
        case create
        case update
        case delete
        case undelete
    }

    /// The counts by collection and operation.
    public private(set) var counts: [String: [Operation: Int]] = [:]

    /// Creates an empty summary.
    public init() {}

    /// Counts the operations of mutations.
    public init(_ mutations: [Mutation]) { add(mutations) }

    mutating func add(_ mutations: [Mutation]) {
        for mutation in mutations {
            counts[mutation.key.collection, default: [:]][Operation(mutation), default: 0] += 1
        }
    }

    /// The summary: collections by name, operations as they are declared.
    public var description: String {
        counts.sorted { $0.key < $1.key }.flatMap { collection, counts in
            Operation.allCases.compactMap { operation in
                counts[operation].map { "\(collection) \(operation.rawValue) \($0)" }
            }
        }.joined(separator: ", ")
    }

    /// The form in `SyncLogEvent.details`; empty for no writes.
    var details: [String: String] { counts.isEmpty ? [:] : ["writes": description] }
}

extension LoggedWrites.Operation {
    init(_ mutation: Mutation) {
        switch mutation.action {
        case .create: self = .create
        case .update: self = .update
        case .delete: self = .delete
        case .undelete: self = .undelete
        }
    }
}
