import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// The cost of planning, counted in bytes that are read: a patch costs only its own fields.
@Suite struct `Work of a batch` {
    private static let document = String(repeating: "x", count: 60_000)
    /// Names of equal length, so that sizes are easy to compute.
    private static let crowd: [FieldValue] = (10_000..<19_000).map { .string("user\($0)") }

    private func desk(_ bounds: PlanLimits = PlanLimits()) throws -> Desk {
        var desk = Desk(bounds: bounds)
        try desk.register(1, "ann")
        try desk.register(2, "bob")
        return desk
    }

    private func title(_ text: String) -> Mutation {
        Desk.mutation("rooms", 1, .update([NamedPatch("title", .set(.string(text)))]))
    }

    private func member(_ name: String) -> Mutation {
        Desk.mutation("rooms", 1, .update([NamedPatch("members", .add([.string(name)]))]))
    }

    private func push(_ client: UInt64, _ user: String, from first: Int64, _ transactions: [Mutation]...) -> Submission
    {
        let numbered = transactions.enumerated().map { offset, mutations in
            (id: client * 1_000 + UInt64(first) + UInt64(offset), mutations: mutations)
        }
        return Desk().submission(client, user, first: first, numbered)
    }

    /// The work of one batch of these submissions: the smallest bound under which all of it fits.
    private func work(of submissions: [Submission], over before: [Mutation]) throws -> Int {
        var desk = try desk()
        try #require(try desk.settle(1, "ann", 1, mutations: before) == nil)
        var (low, high) = (1, 1 << 20)
        while low < high {
            var bounds = PlanLimits()
            bounds.batchWorkMax = (low + high) / 2
            var bounded = desk.bounded(by: bounds)
            if try bounded.sequence(submissions).left.isEmpty {
                high = bounds.batchWorkMax
            } else {
                low = bounds.batchWorkMax + 1
            }
        }
        return high
    }

    @Test func `a patch costs what it changes, however large the record is and however many its members`() throws {
        let room: (FieldValue) -> Mutation = { Desk.mutation("rooms", 1, .create(["members": $0])) }
        let small = [room(["ann"])]
        let large = [room(.array(["ann"] + Self.crowd.prefix(2_000)))]
        func patches(_ count: Int) -> [Submission] {
            [push(1, "ann", from: 2, (0..<count).map { title("\($0)") }), push(1, "ann", from: 3, [title("end")])]
        }
        // Without the first patch, for which the record is read.
        let inSmall = try work(of: patches(60), over: small) - (try work(of: patches(1), over: small))
        let inLarge = try work(of: patches(60), over: large) - (try work(of: patches(1), over: large))
        #expect(inSmall == inLarge)
        #expect(inLarge < 60 * 200)
    }

    @Test func `a refusal costs no more, since the record has been read`() throws {
        let large = [Desk.mutation("rooms", 1, .create(["members": ["ann"], "title": .string(Self.document)]))]
        let typo = Desk.mutation("rooms", 1, .update([NamedPatch("titel", .set("x"))]))
        func refused(_ count: Int) -> [Submission] {
            (0..<count).map { push(1, "ann", from: 2 + Int64($0), [typo]) }
                + [push(1, "ann", from: 2 + Int64(count), [title("end")])]
        }
        let more = try work(of: refused(60), over: large) - (try work(of: refused(1), over: large))
        #expect(more < 60 * 200)
    }

    @Test func `a batch ends when its cost is reached, and the rest is in the next`() throws {
        var bounds = PlanLimits()
        bounds.batchWorkMax = 150_000
        var desk = try desk(bounds)
        try #require(
            try desk.settle(1, "ann", 1, Desk.mutation("rooms", 1, .create(["members": ["ann", "bob"]]))) == nil)
        let first = push(1, "ann", from: 2, [title(Self.document)], [title(Self.document)], [title("short")])
        let second = push(2, "bob", from: 1, [title("bob's")])
        let planned = try desk.sequence([first, second])
        // The first title costs its bytes, the second those of both.
        guard case .settled(3, let results)? = planned.outcomes.first else {
            Issue.record("\(planned.outcomes)")
            return
        }
        #expect(results.map(\.number) == [2, 3])
        #expect(planned.left[0]?.first == 4 && planned.left[0]?.entries.count == 1)
        #expect(planned.left[1] == nil || planned.left[1]?.first == 1)
        #expect(planned.left.count == 2)
        var roomy = desk.bounded(by: PlanLimits())
        let again = try roomy.sequence([planned.left[0], planned.left[1]].compactMap(\.self))
        #expect(again.left.isEmpty)
        #expect(again.outcomes.map(\.firstRefusal) == [nil, nil])
        #expect(planned.outcomes[1].followed(by: again.outcomes[1]) == again.outcomes[1])
    }

    @Test func `a batch takes one transaction, whatever it costs`() throws {
        var bounds = PlanLimits()
        bounds.batchWorkMax = 1
        var desk = try desk(bounds)
        let room = Desk.mutation("rooms", 1, .create(["members": ["ann"]]))
        var left = push(1, "ann", from: 1, [room, title(Self.document)], [title("a")], [title("b")])
        for number in Int64(1)...3 {
            let planned = try desk.sequence([left])
            guard case .settled(number, let results)? = planned.outcomes.first else {
                Issue.record("\(planned.outcomes)")
                return
            }
            #expect(results.map(\.number) == [number])
            if number < 3 { left = try #require(planned.left[0]) } else { #expect(planned.left.isEmpty) }
        }
    }

    @Test func `a transaction above the maximal cost is refused alone`() throws {
        var bounds = PlanLimits()
        bounds.transactionWorkMax = 4 * 1_048_576
        var desk = try desk(bounds)
        let room = Desk.mutation("rooms", 1, .create(["members": ["ann"], "title": .string(Self.document)]))
        #expect(try desk.settle(1, "ann", 1, room) == nil)
        // Each changes 120,000 bytes.
        let many = (0..<64).map { _ in title(Self.document) }
        #expect(try desk.settle(1, "ann", 2, mutations: many) == .tooLarge)
        #expect(try desk.settle(1, "ann", 3, mutations: Array(many.prefix(30))) == nil)
        // Nine thousand memberships end and begin.
        #expect(
            try desk.settle(1, "ann", 4, Desk.mutation("rooms", 1, .update([NamedPatch("members", .add(Self.crowd))])))
                == .tooLarge)
        #expect(try desk.settle(1, "ann", 5, member("eve")) == nil)
    }

    @Test func `the size of a record is tracked, and refuses at the same byte as its body would`() throws {
        var limits = ModelLimits()
        limits.recordBytesMax = 200
        var desk = Desk(limits: limits)
        try desk.register(1, "ann")
        let room = Desk.mutation("rooms", 1, .create(["members": ["ann"], "title": "x"]))
        let full = Fields(dictionaryLiteral: ("members", ["ann"]), ("title", "")).canonicalBytes.count
        let fits = String(repeating: "\"", count: (200 - full) / 2)
        let steps: [(Mutation, RejectionCode?)] = [
            (title(fits), nil), (title(fits + "é"), .tooLarge), (title(""), nil),
            (Desk.mutation("rooms", 1, .update([NamedPatch("title", .unset)])), nil), (title(fits), nil),
            (member("bob"), .tooLarge), (title("\n\u{1}"), nil), (member("bob"), nil),
        ]
        let transactions = [[room]] + steps.map { [$0.0] }
        let numbered = transactions.enumerated().map { (id: UInt64($0.offset) + 1, mutations: $0.element) }
        let planned = try desk.sequence([desk.submission(1, "ann", first: 1, numbered)])
        guard case .settled(_, let results)? = planned.outcomes.first else {
            Issue.record("\(planned.outcomes)")
            return
        }
        #expect(results.map(\.rejection?.code) == [nil] + steps.map(\.1))
        let body = try #require(planned.batch?.records.first?.body)
        #expect(String(decoding: body, as: UTF8.self) == #"{"members":["ann","bob"],"title":"\n\u0001"}"#)
    }

    @Test func `members are compared in their lists, each change once`() throws {
        var desk = try desk()
        let names: FieldValue = .array(["ann", "bob"] + Self.crowd)
        #expect(try desk.settle(1, "ann", 1, Desk.mutation("rooms", 1, .create(["members": names]))) == nil)
        let admins = Desk.mutation("rooms", 1, .update([NamedPatch("admins", .add(["bob", "nobody"]))]))
        let changes = try desk.sequence([
            push(1, "ann", from: 2, [title("x")], [admins], [member("eve"), member("bob")]),
            push(
                1, "ann", from: 5,
                [Desk.mutation("rooms", 1, .update([NamedPatch("members", .remove(["bob", "zed"]))]))]),
        ]).batch?.memberships.map { "\($0.user) \($0.role?.rawValue ?? "-") \($0.since ?? 0)" }
        #expect(changes == ["bob admin 0", "eve member 4", "bob - 0"])
    }
}
