public import Foundation
public import Tidemark

/// The records of one kind in one shop.
public protocol ShopRepository<Model>: Sendable {
    associatedtype Model: ShopRecord

    /// Lists all records, the newest creation first.
    func list() -> Listings<Model>

    /// Returns the record: from this device, or else from the server, if the cache's policy evicted or did not fetch
    /// it.
    ///
    /// - Throws: `RepairShopError.notFound` for a record that neither has; `StoreError` with `unreachable` when the
    ///   server may have it but cannot be asked.
    func read(_ id: UUID) async throws -> Model

    /// Creates the record; it is durable when this returns.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    @discardableResult
    func create(_ model: Model) async throws -> WriteReceipt

    /// Saves a form: writes what was edited since the record was shown, so that others' changes of other fields stay.
    /// For a field that both changed, the other value is kept in the history of the record.
    ///
    ///     let shown = try await shop.orders.read(id)             // when the form opens
    ///     try await shop.orders.update(edited, from: shown)      // when it is saved
    ///
    /// - Parameters:
    ///   - edited: the record as the form holds it.
    ///   - shown: the record as it was read when the form opened.
    /// - Returns: the receipt; it has no steps when nothing differs.
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    func update(_ edited: Model, from shown: Model) async throws -> WriteReceipt

    /// Edits the present record: only the fields that `change` changes are written, so that others' changes of other
    /// fields stay.
    ///
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    func update(_ id: UUID, _ change: @escaping @Sendable (inout Model) -> Void) async throws -> WriteReceipt

    /// Deletes the record.
    ///
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    func delete(_ id: UUID) async throws -> WriteReceipt
}

/// The orders of a shop.
public protocol OrderRepository: ShopRepository where Model == Order {
    /// Lists the orders with this status, the newest first; all of them for `nil`.
    func list(status: OrderStatus?) -> Listings<Order>

    /// Writes only the status.
    ///
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    func updateOrderStatus(_ id: UUID, to status: OrderStatus) async throws -> WriteReceipt
}

/// The tickets of a shop with their messages.
public protocol TicketRepository: ShopRepository where Model == Ticket {
    /// Lists the tickets with this status, the most urgent first; all of them for `nil`.
    func list(status: TicketStatus?) -> Listings<Ticket>

    /// Lists the messages about a ticket, oldest first.
    func messages(about ticket: UUID) -> Listings<TicketMessage>

    /// Adds a message.
    ///
    /// - Parameter isInternal: true for a message to the staff only, which must not be sent to the client.
    /// - Throws: as `read` does, for the ticket.
    @discardableResult
    func post(_ text: String, about ticket: UUID, isInternal: Bool) async throws -> WriteReceipt
}
