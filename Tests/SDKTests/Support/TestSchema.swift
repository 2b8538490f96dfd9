import TidemarkModel

/// Every field type and every merge rule in a few collections.
enum TestSchema {
    static let text = """
        {"tidemark": 1, "name": "test", "collections": {
          "rooms": {"scope": "self", "members": "people", "fields": {
            "people": {"type": "set", "required": true, "merge": "elements"},
            "title": "string"}},
          "notes": {"scope": "room", "fields": {
            "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
            "text": {"type": "string", "max": 100},
            "likes": {"type": "integer", "merge": "counter"},
            "best": {"type": "double", "merge": "max"},
            "tags": {"type": "set", "merge": "elements"},
            "seen": {"type": "set", "merge": "set"},
            "done": "boolean",
            "due": {"type": "timestamp", "index": true},
            "meta": "map",
            "body": "json",
            "weight": "double",
            "file": "blob"}},
          "people": {"scope": {"shared": "directory"}, "change": ["author"], "fields": {"name": "string"}}
        }}
        """

    static func schema(_ text: String = text) throws -> Schema { try Schema(json: Array(text.utf8)) }
}
