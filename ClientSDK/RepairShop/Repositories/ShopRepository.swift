public import Foundation
public import Tidemark

/// The records of one kind of one shop.
public protocol ShopRepository<Model>: Sendable {
    associatedtype Model: ShopRecord

    /// All of them, the newest creation first.
    func list() -> Listings<Model>

    /// The record: from this device, else from the server, where the cache's policy left it or evicted it.
    ///
    /// - Throws: `RepairShopError.notFound` for one that is neither here nor there; `StoreError` with `unreachable` for one
    ///   that may be there while the server cannot be asked.
    func read(_ id: UUID) async throws -> Model

    /// Creates the record; durable when this returns.
    @discardableResult
    func create(_ model: Model) async throws -> WriteReceipt

    /// Saves a form: writes what was edited since the record was shown, so that what others did meanwhile to the other fields
    /// stays. Of a field that both changed, the other value is in the history of the record.
    ///
    ///     let shown = try await shop.orders.read(id)             // when the form opens
    ///     try await shop.orders.update(edited, from: shown)      // when it is saved
    ///
    /// - Parameters:
    ///   - edited: the record as the form has it.
    ///   - shown: the record as it was read when the form opened.
    /// - Returns: a receipt without steps when nothing differs.
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    func update(_ edited: Model, from shown: Model) async throws -> WriteReceipt

    /// Edits the record as it is now: only the fields that `change` changes are written, so that what others do to the
    /// other fields meanwhile stays.
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
    /// Those with this status, the newest received first; all of them for `nil`.
    func list(status: OrderStatus?) -> Listings<Order>

    /// Writes the status and nothing else.
    ///
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    func updateOrderStatus(_ id: UUID, to status: OrderStatus) async throws -> WriteReceipt
}

/// The tickets of a shop with their messages.
public protocol TicketRepository: ShopRepository where Model == Ticket {
    /// Those with this status, the most urgent first; all of them for `nil`.
    func list(status: TicketStatus?) -> Listings<Ticket>

    /// The words about a ticket, oldest first.
    func messages(about ticket: UUID) -> Listings<TicketMessage>

    /// Adds a word.
    ///
    /// - Parameter isInternal: it is for the staff alone, and not to be sent to the client.
    /// - Throws: as `read` does, for the ticket.
    @discardableResult
    func post(_ text: String, about ticket: UUID, isInternal: Bool) async throws -> WriteReceipt
}
