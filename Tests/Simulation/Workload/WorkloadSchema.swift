import TidemarkModel

/// The collections of the simulated app: every merge rule, every kind of scope, every access rule that varies.
enum WorkloadSchema {
    static func load() throws -> Schema { try Schema(json: Array(json.utf8)) }

    private static let json = """
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
                "detail": "json",
                "kind": {"type": "string", "merge": "immutable"},
                "grade": {"type": "integer", "change": ["admin"]},
                "stamp": {"type": "integer", "create": ["member"], "change": ["admin"]},
                "sign": {"type": "string", "change": ["author"]},
                "parent": {"type": "reference", "to": "notes", "within": "scope"}
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
