public import Foundation
public import Tidemark

/// The records of one kind in one shop.
public struct ShopRecords<Model: ShopRecord>: Sendable {
    /// Adds the values that records show about others.
    typealias Reckoning = @Sendable ([Model], StoreSnapshot) throws -> [Model]

    let store: SyncStore
    let shop: UUID
    let order: [ModelOrder<Model>]
    private let reckon: Reckoning

    init(
        _ store: SyncStore, shop: UUID, order: [ModelOrder<Model>] = [.newestFirst],
        reckon: @escaping Reckoning = { records, _ in records }
    ) {
        self.store = store
        self.shop = shop
        self.order = order
        self.reckon = reckon
    }

    /// Lists all records: the newest creation first, orders by the time of receipt, tickets by urgency.
    public func list() -> Listings<Model> { list(where: .all) }

    /// Returns the record: from this device, or else from the server, if the cache's policy evicted or did not fetch
    /// it.
    ///
    /// - Throws: `RepairShopError.notFound` for a record that neither has; `StoreError` with `unreachable` when the
    ///   server may have it but cannot be asked.
    public func read(_ id: UUID) async throws -> Model {
        let model = try await store.repository(Model.self).fetch(id, in: .of(shop))
        guard let model, model.shopId == shop else { throw notFound(id) }
        return try await store.read { [reckon] snapshot in try reckon([model], snapshot).first ?? model }
    }

    /// Creates the record; it is durable when this returns.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    @discardableResult
    public func create(_ model: Model) async throws -> WriteReceipt {
        try await store.repository(Model.self).create(model)
    }

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
    public func update(_ edited: Model, from shown: Model) async throws -> WriteReceipt {
        try await write(edited.id) { batch in batch.update(edited, from: shown) }
    }

    /// Edits the present record: only the fields that `change` changes are written, so that others' changes of other
    /// fields stay.
    ///
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    public func update(
        _ id: UUID, _ change: @escaping @Sendable (inout Model) -> Void
    ) async throws -> WriteReceipt {
        try await write(id) { batch in batch.update(Model.self, id, change) }
    }

    /// Deletes the record.
    ///
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    public func delete(_ id: UUID) async throws -> WriteReceipt {
        try await write(id) { batch in batch.delete(Model.self, id) }
    }

    /// Writes to a record if it belongs to this shop.
    private func write(_ id: UUID, _ body: @escaping @Sendable (inout WriteBatch) -> Void) async throws -> WriteReceipt
    {
        try await store.readAndWrite { snapshot, batch in
            guard try snapshot.read(Model.self, id)?.shopId == shop else { throw notFound(id) }
            body(&batch)
        }
        .receipt
    }

    private func notFound(_ id: UUID) -> RepairShopError { .notFound(collection: Model.collection, id: id) }

    /// Lists records, with whether all of this kind in the shop have arrived.
    func list(where filter: ModelFilter<Model>) -> Listings<Model> {
        let scope = ScopeID(record: shop)
        return Listings(
            store.observe { [order, reckon] snapshot in
                // Evicted records are not arriving: none of them remains to come.
                let filling = try snapshot.rows(
                    """
                    SELECT 1 AS yes FROM tidemark_scope_page
                    WHERE scope = ? AND collection = ? AND is_complete = 0 AND remaining IS NOT 0
                    """, [.string(scope.text), .string(Model.collection)])
                let records = try snapshot.readAll(Model.self, where: filter, order: order, in: scope)
                return Listing(records: try reckon(records, snapshot), isLoading: !filling.isEmpty)
            })
    }
}

extension ShopRecords where Model == Order {
    /// Lists the orders with this status, the newest first; all of them for `nil`.
    public func list(status: OrderStatus?) -> Listings<Order> { list(where: status.map { \.status == $0 } ?? .all) }

    /// Writes only the status.
    ///
    /// - Throws: `RepairShopError.notFound`.
    @discardableResult
    public func updateOrderStatus(_ id: UUID, to status: OrderStatus) async throws -> WriteReceipt {
        try await update(id) { $0.status = status }
    }
}

extension ShopRecords where Model == Ticket {
    /// Lists the tickets with this status, the most urgent first; all of them for `nil`.
    public func list(status: TicketStatus?) -> Listings<Ticket> { list(where: status.map { \.status == $0 } ?? .all) }

    /// Lists the messages about a ticket, oldest first.
    public func messages(about ticket: UUID) -> Listings<TicketMessage> {
        ShopRecords<TicketMessage>(store, shop: shop, order: [.by(\.sentAt), .by(\.id)])
            .list(where: \.ticketId == ticket)
    }

    /// Adds a message.
    ///
    /// - Parameter isInternal: true for a message to the staff only, which must not be sent to the client.
    /// - Throws: as `read` does, for the ticket.
    @discardableResult
    public func post(_ text: String, about ticket: UUID, isInternal: Bool) async throws -> WriteReceipt {
        let message = TicketMessage(about: try await read(ticket), text: text, isInternal: isInternal)
        return try await store.repository(TicketMessage.self).create(message)
    }
}
