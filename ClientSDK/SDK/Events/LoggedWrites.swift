public import TidemarkModel

/// A summary of transactions, by kind of record and operation, with counts: never which records, and no values.
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

    /// Counts by collection and operation.
    public private(set) var counts: [String: [Operation: Int]] = [:]

    /// None.
    public init() {}

    /// Counts the operations of mutations.
    public init(_ mutations: [Mutation]) { add(mutations) }

    mutating func add(_ mutations: [Mutation]) {
        for mutation in mutations {
            counts[mutation.key.collection, default: [:]][Operation(mutation), default: 0] += 1
        }
    }

    /// Collections by name, operations as they are declared.
    public var description: String {
        counts.sorted { $0.key < $1.key }.flatMap { collection, counts in
            Operation.allCases.compactMap { operation in
                counts[operation].map { "\(collection) \(operation.rawValue) \($0)" }
            }
        }.joined(separator: ", ")
    }

    /// The form that `SyncLogEvent.details` has; nothing where there are none.
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
