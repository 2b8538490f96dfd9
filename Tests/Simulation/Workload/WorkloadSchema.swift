import TidemarkModel

/// The collections of the simulated app: every merge rule, every kind of scope, every access rule with variants.
///
/// The app has an earlier version, in which one field has the name that server and wire use for ever.
struct WorkloadSchema {
    /// The schema of the server and of the present version of the app.
    let present: Schema
    /// The schema of the earlier version of the app.
    let earlier: Schema

    static let renamed = (collection: "notes", from: "detail", to: "details")

    init() throws {
        let (from, to) = (Self.renamed.from, Self.renamed.to)
        present = try Schema(json: Array(Self.json(#""\#(to)": {"type": "json", "was": "\#(from)"}"#).utf8))
        earlier = try Schema(json: Array(Self.json(#""\#(from)": "json""#).utf8))
    }

    /// The fields by the names that server and wire use.
    static func stored(_ fields: Fields, of collection: String) -> Fields {
        guard collection == renamed.collection, let value = fields[renamed.to] else { return fields }
        var stored = fields
        (stored[renamed.to], stored[renamed.from]) = (nil, value)
        return stored
    }

    /// A transaction of an app of any version, with the names that server and wire use.
    static func stored(_ transaction: Transaction) -> Transaction {
        var stored = transaction
        for (index, mutation) in transaction.mutations.enumerated() where mutation.key.collection == renamed.collection
        {
            switch mutation.action {
            case .create(let fields):
                stored.mutations[index].action = .create(Self.stored(fields, of: renamed.collection))
            case .undelete(let fields):
                stored.mutations[index].action = .undelete(Self.stored(fields, of: renamed.collection))
            case .update(var patches):
                for (at, patch) in patches.enumerated() where patch.field == renamed.to {
                    patches[at] = NamedPatch(renamed.from, patch.patch, seen: patch.seen)
                }
                stored.mutations[index].action = .update(patches)
            case .delete: break
            }
        }
        return stored
    }

    private static func json(_ detail: String) -> String {
        """
        {
          "tidemark": 1, "name": "simulation", "version": 1,
          "collections": {
            "conversations": {
              "scope": "self", "members": "memberIds", "admins": "adminIds", "delete": ["owner", "admin"],
              "fields": {
                "title": "string",
                "kind": {"type": "string", "merge": "immutable"},
                "memberIds": {"type": "set", "merge": "elements", "required": true},
                "adminIds": {"type": "set", "merge": "elements", "create": ["owner"], "change": ["admin"]}
              }
            },
            "messages": {
              "scope": "conversationId", "mode": "append-only",
              "fields": {
                "conversationId": {"type": "reference", "to": "conversations", "required": true},
                "text": {"type": "string", "required": true, "max": 2000},
                "readBy": {"type": "set", "merge": "set", "change": ["member"]}
              }
            },
            "notes": {
              "scope": "conversationId",
              "fields": {
                "conversationId": {"type": "reference", "to": "conversations", "required": true, "merge": "immutable"},
                "body": "string",
                "rev": "integer",
                "plan": {"type": "string", "merge": "manual"},
                "count": {"type": "integer", "merge": "counter"},
                "high": {"type": "integer", "merge": "max"},
                "tags": {"type": "set", "merge": "set"},
                "labels": {"type": "set", "merge": "elements"},
                "marks": {"type": "map", "merge": "keys"},
                \(detail),
                "kind": {"type": "string", "merge": "immutable"},
                "grade": {"type": "integer", "change": ["admin"]},
                "stamp": {"type": "integer", "create": ["member"], "change": ["admin"]},
                "sign": {"type": "string", "change": ["author"]},
                "parent": {"type": "reference", "to": "notes", "within": "scope"},
                "stars": {"type": "integer", "minimum": 0, "maximum": 5},
                "stage": {
                  "type": "string", "enum": ["open", "doing", "done"], "initial": ["open"],
                  "transitions": {"open": ["doing", "done"], "doing": ["done"], "done": [{"to": "open", "by": ["admin"]}]}
                }
              }
            },
            "labels": {
              "scope": "conversationId", "id": {"name": "label", "key": "name"},
              "fields": {
                "conversationId": {"type": "reference", "to": "conversations", "required": true, "merge": "immutable"},
                "name": {"type": "string", "required": true, "merge": "immutable"},
                "color": "string"
              }
            },
            "directory": {
              "scope": {"shared": "directory"}, "create": ["anyone"], "delete": ["author"],
              "fields": {
                "name": {"type": "string", "required": true},
                "visits": {"type": "integer", "merge": "counter"}
              }
            }
          }
        }
        """
    }
}
