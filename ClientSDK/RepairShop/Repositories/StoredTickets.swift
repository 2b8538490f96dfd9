import Foundation
import Tidemark

/// The tickets of a shop in a store.
struct StoredTickets: TicketRepository {
    let records: StoredRecords<Ticket>

    func list() -> Listings<Ticket> { list(status: nil) }

    func list(status: TicketStatus?) -> Listings<Ticket> {
        records.list(
            where: status.map { \.status == $0 } ?? .all,
            order: [.by(\.priority, .descending), .by(\.opened, .descending), .by(\.id, .descending)])
    }

    func messages(about ticket: UUID) -> Listings<TicketMessage> {
        StoredRecords<TicketMessage>(records.store, shop: records.shop)
            .list(where: \.ticketId == ticket, order: [.by(\.sentAt), .by(\.id)])
    }

    func post(_ text: String, about ticket: UUID, isInternal: Bool) async throws -> WriteReceipt {
        let message = TicketMessage(about: try await read(ticket), text: text, isInternal: isInternal)
        return try await records.store.repository(TicketMessage.self).create(message)
    }

    func read(_ id: UUID) async throws -> Ticket { try await records.read(id) }

    func create(_ model: Ticket) async throws -> WriteReceipt { try await records.create(model) }

    func update(_ edited: Ticket, from shown: Ticket) async throws -> WriteReceipt {
        try await records.update(edited, from: shown)
    }

    func update(_ id: UUID, _ change: @escaping @Sendable (inout Ticket) -> Void) async throws -> WriteReceipt {
        try await records.update(id, change)
    }

    func delete(_ id: UUID) async throws -> WriteReceipt { try await records.delete(id) }
}
