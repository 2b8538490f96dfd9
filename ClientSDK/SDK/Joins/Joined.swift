/// A record and the record that it refers to, read at one moment.
///
///     for row in try await cards.joining(\.boardId, Board.self).readAll() {
///         print(row.title, row.joined?.name ?? "no board here")      // `row.title` is `row.model.title`
///     }
@dynamicMemberLookup
public struct Joined<Model: SyncModel, Other: SyncModel>: Sendable, Identifiable {
    /// The record of the list.
    public let model: Model
    /// The record that it refers to. It is `nil` when the reference is empty, when the record is not on this device,
    /// for example while its scope is filling, or when `Other` cannot hold it (see `Repository.undecodable()`).
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
