import Foundation
import Tidemark

/// The tickets of a shop in a store.
struct StoredTickets: TicketRepository {
    let records: StoredRecords<Ticket>

    func list() -> Listings<Ticket> { list(status: nil) }

    func list(status: TicketStatus?) -> Listings<Ticket> {
        let order = "ORDER BY priority DESC, opened DESC, local_id DESC"
        guard let status else { return records.list(Ticket.self, order, []) }
        return records.list(Ticket.self, order, [.string(status.rawValue)], where: "AND status = ?")
    }

    func messages(about ticket: UUID) -> Listings<TicketMessage> {
        records.list(
            TicketMessage.self, "ORDER BY sentAt, local_id", [.id(ticket)], where: "AND ticketId = ?")
    }

    func post(_ text: String, about ticket: UUID) async throws -> WriteReceipt {
        let message = TicketMessage(about: try await read(ticket), text: text)
        return try await records.store.repository(TicketMessage.self).create(message)
    }

    func read(_ id: UUID) async throws -> Ticket { try await records.read(id) }

    func create(_ model: Ticket) async throws -> WriteReceipt { try await records.create(model) }

    func update(_ id: UUID, _ change: @escaping @Sendable (inout Ticket) -> Void) async throws -> WriteReceipt {
        try await records.update(id, change)
    }

    func delete(_ id: UUID) async throws -> WriteReceipt { try await records.delete(id) }
}
