package import TidemarkModel

/// The answer to `POST /v1/clients`.
package struct RegisterAnswer: Hashable, Sendable {
    package var client: ClientID
    /// The client's last settled transaction.
    package var settledThrough: Int64

    package init(client: ClientID, settledThrough: Int64) {
        self.client = client
        self.settledThrough = settledThrough
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 80)
        writer.id("{\"client\":", client)
        writer.integer(",\"lmid\":", settledThrough)
        return writer.ended()
    }
}

/// The answer to `GET /v1/clients`: the caller's own clients, first those that a registration may remove to make room.
package struct ClientsAnswer: Hashable, Sendable {
    /// One client; both times are server times.
    package struct Client: Hashable, Sendable {
        package var id: ClientID
        package var settledThrough: Int64
        package var registered: Milliseconds
        package var seen: Milliseconds

        package init(id: ClientID, settledThrough: Int64, registered: Milliseconds, seen: Milliseconds) {
            self.id = id
            self.settledThrough = settledThrough
            self.registered = registered
            self.seen = seen
        }
    }

    package var clients: [Client]

    package init(clients: [Client]) { self.clients = clients }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 32 + clients.count * 128)
        writer.array("{\"clients\":", clients) { writer, client in
            writer.id("{\"client\":", client.id)
            for (name, value) in [
                ("lmid", client.settledThrough), ("registered", client.registered), ("seen", client.seen),
            ] {
                writer.member(name)
                writer.integer(value)
            }
            writer.byte(UInt8(ascii: "}"))
        }
        return writer.ended()
    }
}
