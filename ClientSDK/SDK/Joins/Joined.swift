/// A record with the one that it refers to, read at one moment.
///
///     for row in try await cards.joining(\.boardId, Board.self).readAll() {
///         print(row.title, row.joined?.name ?? "no board here")      // `row.title` is `row.model.title`
///     }
@dynamicMemberLookup
public struct Joined<Model: SyncModel, Other: SyncModel>: Sendable, Identifiable {
    /// The record of the list.
    public let model: Model
    /// The record that it refers to; `nil` where it refers to none, where that one is not on this device, as while its scope
    /// is being filled, or where `Other` cannot hold it (see `Repository.undecodable()`).
    public let joined: Other?

    public init(_ model: Model, _ joined: Other?) {
        self.model = model
        self.joined = joined
    }

    public var id: Model.ID { model.id }

    /// A property of the list's record.
    public subscript<Value>(dynamicMember property: KeyPath<Model, Value>) -> Value { model[keyPath: property] }
}

extension Joined: Equatable where Model: Equatable, Other: Equatable {}
extension Joined: Hashable where Model: Hashable, Other: Hashable {}
