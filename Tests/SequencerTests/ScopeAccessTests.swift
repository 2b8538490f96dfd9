import Testing
import TidemarkModel
import TidemarkSequencer

/// The right to send to a scope something that belongs to no record.
@Suite struct `Writing in a scope` {
    private static let room = ScopeID("room")
    private static let wall = ScopeID("wall")

    private func admission(_ collections: String) throws -> Admission {
        let text = #"{"tidemark": 1, "name": "scopes", "collections": {\#(collections)}}"#
        return Admission(schema: try Schema(json: Array(text.utf8)), limits: ModelLimits())
    }

    private func rooms(change: String) -> String {
        #"""
        "rooms": {"scope": "self", "members": "people", "change": \#(change), "fields": {
          "people": {"type": "set", "required": true, "merge": "elements"}}}
        """#
    }

    private func notes(create: String, change: String, field: String = #""string""#) -> String {
        #"""
        "notes": {"scope": "room", "create": \#(create), "change": \#(change), "fields": {
          "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"}, "text": \#(field)}}
        """#
    }

    private func may(_ admission: Admission, _ role: Role?, in scope: ScopeID = room, isService: Bool = false) -> Bool {
        admission.mayWrite(
            in: scope, Principal(user: UserID("ann"), isService: isService),
            grant: role.map { Grant(scope: scope, since: 1, role: $0) })
    }

    @Test func `members who may create a record in it may, and strangers never`() throws {
        for creators in [#"["anyone"]"#, #"["member"]"#, #"["author"]"#] {
            let admission = try admission(
                rooms(change: #"["owner"]"#) + "," + notes(create: creators, change: #"["author"]"#))
            #expect(may(admission, .member), "\(creators)")
            #expect(may(admission, .owner), "\(creators)")
            #expect(!may(admission, nil), "\(creators)")
        }
    }

    @Test func `users who may only read may not`() throws {
        let admission = try admission(
            rooms(change: #"["owner"]"#) + "," + notes(create: #"["admin"]"#, change: #"["author"]"#))
        #expect(!may(admission, .member))
        #expect(may(admission, .admin))
        #expect(may(admission, .owner))
    }

    @Test func `the right to change others' records, or one field of them, is enough`() throws {
        let whole = try admission(
            rooms(change: #"["owner"]"#) + "," + notes(create: #"["owner"]"#, change: #"["member"]"#))
        #expect(may(whole, .member) && !may(whole, nil))
        let field = #"{"type": "string", "change": ["member"]}"#
        let part = try admission(
            rooms(change: #"["owner"]"#) + "," + notes(create: #"["owner"]"#, change: #"["owner"]"#, field: field))
        #expect(may(part, .member) && !may(part, nil))
    }

    @Test func `a right of anyone to open scopes gives no access to existing ones`() throws {
        let admission = try admission(rooms(change: #"["owner"]"#))
        #expect(!may(admission, nil) && !may(admission, .member))
        #expect(may(admission, .owner))
    }

    @Test func `a shared scope is open to all users if its collection is`() throws {
        let open = try admission(
            #""cards": {"scope": {"shared": "wall"}, "create": ["member"], "fields": {"text": "string"}}"#)
        #expect(may(open, nil, in: Self.wall))
        #expect(!may(open, nil))
        let closed = try admission(
            #"""
            "cards": {"scope": {"shared": "wall"}, "create": ["admin"], "change": ["admin"], "fields": {"text": "string"}}
            """#)
        #expect(!may(closed, nil, in: Self.wall))
    }

    @Test func `a service may in every scope`() throws {
        let admission = try admission(rooms(change: #"["owner"]"#))
        #expect(may(admission, nil, isService: true))
    }
}
