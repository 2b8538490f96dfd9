import Foundation
import Testing
import Tidemark
import TidemarkRepairShop

@Suite(.timeLimit(.minutes(5))) struct TicketTests {
    @Test func `a ticket has a draft label until the server numbers it, and then the same label on every device`()
        async throws
    {
        try await TestServer.running(schema: try RepairShopSchema.schema()) { server in
            let ann = try await Workbench.open("ann")
            let bob = try await Workbench.open("bob", shop: ann.shop.id)
            let ticket = Ticket(shop: ann.shop.id, subject: "call back", priority: 1)
            let urgent = Ticket(shop: ann.shop.id, subject: "smoke", priority: 9)
            try await ann.shop.tickets.create(ticket)
            try await ann.shop.tickets.create(urgent)
            try await ann.shop.tickets.post("who calls?", about: ticket.id, isInternal: true)
            let draft = try await ann.shop.tickets.read(ticket.id).label
            #expect(draft == "T-draft-\(ticket.id.uuidString.lowercased().suffix(4))")
            try ann.connect(server)
            try bob.connect(server)
            var labels: [[String]] = []
            for device in [ann, bob] {
                let listing = await device.shop.tickets.list(status: .open).first { listing in
                    listing.records.count == 2 && listing.records.allSatisfy { $0.serverID != nil }
                }
                #expect(listing?.records.map(\.subject) == ["smoke", "call back"])
                labels.append(listing?.records.map(\.label) ?? [])
            }
            #expect(labels.first == labels.last)
            #expect(labels.first?.allSatisfy { !$0.contains("draft") } == true)
            #expect(Set(labels.joined()).count == 2)

            try await bob.shop.tickets.post("I do", about: ticket.id, isInternal: false)
            try await bob.shop.tickets.update(ticket.id) { $0.status = .closed }
            let words = await ann.shop.tickets.messages(about: ticket.id).first { $0.records.count == 2 }
            #expect(words?.records.map(\.text) == ["who calls?", "I do"])
            #expect(words?.records.map(\.author) == ["ann", "bob"])
            #expect(words?.records.map(\.isInternal) == [true, false])
            _ = await ann.shop.tickets.list(status: .closed).first { $0.records.map(\.id) == [ticket.id] }
            await ann.disconnect()
            await bob.disconnect()
        }
    }

    @Test func `a ticket shows its author, and its newest message, also an internal one`() async throws {
        let ann = try await Workbench.open("ann")
        var ticket = Ticket(shop: ann.shop.id, subject: "no order yet")
        (ticket.clientName, ticket.clientEmail, ticket.number) = ("Dee", "dee@a.example", 12)
        try await ann.shop.tickets.create(ticket)
        let quiet = Ticket(shop: ann.shop.id, subject: "nobody wrote", priority: -1)
        try await ann.shop.tickets.create(quiet)
        let words = ann.store.repository(TicketMessage.self)
        for (text, isInternal, time) in [("later", true, 9.0), ("sooner", false, 3)] {
            try await words.create(
                TicketMessage(
                    about: ticket, text: text, isInternal: isInternal, sentAt: Date(timeIntervalSince1970: time)))
        }
        let read = try await ann.shop.tickets.read(ticket.id)
        #expect(read.clientName == "Dee" && read.clientEmail == "dee@a.example" && read.number == 12)
        #expect(read.lastMessage?.text == "later" && read.lastMessage?.isInternal == true)
        let listing = await ann.shop.tickets.list(status: .open).first { $0.records.count == 2 }
        #expect(listing?.records.map(\.lastMessage?.text) == ["later", nil])
        // Found values are not written back.
        try await ann.shop.tickets.update(ticket.id) { $0.subject = "none" }
        #expect(try await ann.shop.tickets.read(ticket.id).lastMessage?.text == "later")
    }

    @Test func `amounts add within one currency and never overflow`() {
        let ten = Money(minorUnits: 1_000, currency: "EUR")
        #expect(ten.adding(ten) == Money(minorUnits: 2_000, currency: "EUR"))
        #expect(ten.adding(Money(minorUnits: 1, currency: "USD")) == nil)
        #expect(ten.adding(Money(minorUnits: .max, currency: "EUR")) == nil)
    }

    @Test func `a message about no ticket is refused`() async throws {
        let ann = try await Workbench.open("ann")
        let id = UUID()
        await #expect(throws: RepairShopError.notFound(collection: "tickets", id: id)) {
            try await ann.shop.tickets.post("x", about: id, isInternal: false)
        }
    }
}
