import Foundation
import Tidemark

// Values that a record shows about others, read together with it. They are never stored: two people who write at once
// would leave a sum that fits neither.
extension Client {
    /// The sum of a client's orders in one currency.
    private struct Sum: Decodable {
        var clientId: UUID
        var number: Int
        var currency: String?
        var minorUnits: Int64
    }

    /// Returns the clients of a shop with the number of their orders and their spending.
    static func reckoned(_ clients: [Client], in snapshot: StoreSnapshot) throws -> [Client] {
        guard let shop = clients.first?.shopId else { return clients }
        let sums = try snapshot.rows(
            """
            SELECT clientId, count(*) AS number, json_extract(total, '$.currency') AS currency,
                CAST(total(json_extract(total, '$.minorUnits')) FILTER (WHERE status = ?) AS INTEGER) AS minorUnits
            FROM orders
            WHERE scope = ?
            GROUP BY clientId, currency
            ORDER BY currency
            """, [.string(OrderStatus.pickedUp.rawValue), .string(ScopeID(record: shop).text)], as: Sum.self)
        let sumsOfClients = Dictionary(grouping: sums, by: \.clientId)
        return clients.map { client in
            var client = client
            for sum in sumsOfClients[client.id] ?? [] {
                client.orderCount += sum.number
                guard let currency = sum.currency, sum.minorUnits != 0 else { continue }
                client.totalSpent.append(Money(minorUnits: sum.minorUnits, currency: currency))
            }
            return client
        }
    }
}

extension Ticket {
    /// Returns the tickets of a shop, each with its newest message.
    static func reckoned(_ tickets: [Ticket], in snapshot: StoreSnapshot) throws -> [Ticket] {
        guard let shop = tickets.first?.shopId else { return tickets }
        let newest = try snapshot.readAll(
            TicketMessage.self,
            """
            WHERE local_id IN (
                SELECT local_id FROM (
                    SELECT local_id,
                        row_number() OVER (PARTITION BY ticketId ORDER BY sentAt DESC, local_id DESC) AS place
                    FROM ticketMessages
                    WHERE scope = ?
                ) WHERE place = 1
            )
            """, [.string(ScopeID(record: shop).text)])
        let words = Dictionary(newest.map { ($0.ticketId, $0) }, uniquingKeysWith: { first, _ in first })
        return tickets.map { ticket in
            var ticket = ticket
            ticket.lastMessage = words[ticket.id]
            return ticket
        }
    }
}
