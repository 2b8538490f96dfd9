import TidemarkModel

/// Transactions of the chat schema, for tests.
enum Sample {
    static func id(_ number: UInt64) -> UniqueID { UniqueID(high: 0x0190_0000_0000_7000, low: 1 << 63 | number) }

    /// A profile in the directory, which every user sees. The transaction has the record's number.
    static func profile(_ number: UInt64, name: String = "someone") -> Transaction {
        create("users", number, ["displayName": .string(name)])
    }

    static func conversation(_ number: UInt64, of users: String...) -> Transaction {
        create(
            "conversations", number, ["participantIds": .array(users.map { .string($0) }), "kind": "group"])
    }

    static func message(_ number: UInt64, in conversation: UInt64, text: String = "hi") -> Transaction {
        create(
            "messages", number,
            ["conversationId": .string(id(conversation).description), "text": .string(text), "sentAt": 1])
    }

    static func removal(_ number: UInt64, of user: String, from conversation: UInt64) -> Transaction {
        Transaction(
            id: id(number),
            mutations: [
                Mutation(
                    key: RecordKey(collection: "conversations", id: id(conversation)),
                    action: .update([NamedPatch("participantIds", .remove([.string(user)]))]))
            ], clientTime: 0)
    }

    static func scope(_ conversation: UInt64) -> ScopeID { ScopeID(record: id(conversation)) }

    private static func create(_ collection: String, _ number: UInt64, _ fields: Fields) -> Transaction {
        Transaction(
            id: id(number),
            mutations: [Mutation(key: RecordKey(collection: collection, id: id(number)), action: .create(fields))],
            clientTime: 0)
    }
}
