import Testing
import TidemarkModel

/// Laws of the pure merge, over seeded random patches.
@Suite struct `Merge laws` {
    private static let collection: CollectionSchema = {
        let json = #"""
            {"tidemark": 1, "collections": {"notes": {"scope": {"shared": "all"}, "fields": {
              "title": "string", "fixed": {"type": "string", "merge": "immutable"}, "tags": {"type": "set", "merge": "set"},
              "people": {"type": "set", "merge": "elements"}, "count": {"type": "integer", "merge": "counter"},
              "top": {"type": "integer", "merge": "max"}, "rank": {"type": "integer", "merge": "server"},
              "low": {"type": "double", "merge": "max"}, "plan": {"type": "double", "merge": "manual"},
              "marks": {"type": "map", "merge": "keys"}}}}}
            """#
        do {
            return try #require(try Schema(json: Array(json.utf8)).collection("notes"))
        } catch {
            preconditionFailure("the test's own schema: \(error)")
        }
    }()

    private func fold(_ fields: Fields, _ patches: [NamedPatch], isService: Bool = false) throws(Rejection) -> Fields {
        var result = fields
        for patch in patches {
            result = try RecordMerge.updated(result, [patch], in: Self.collection, isService: isService)
        }
        return result
    }

    private func words(_ random: inout SplitMix) -> [FieldValue] {
        (0..<random.next() % 4).map { _ in .string(["a", "b", "c", "é", "😀"][Int(random.next() % 5)]) }
    }

    private func commuting(_ random: inout SplitMix) -> NamedPatch {
        switch random.next() % 3 {
        case 0: NamedPatch("tags", .add(words(&random)))
        case 1: NamedPatch("count", .increment(.integer(Int64(random.next() % 100) - 50)))
        default: NamedPatch("top", .max(.integer(Int64(random.next() % 100))))
        }
    }

    @Test func `grow-only sets, counters and maxima have the same result in every order`() throws {
        for seed in 0..<200 {
            var random = SplitMix(seed: UInt64(seed))
            let patches = (0..<8).map { _ in commuting(&random) }
            let expected = try fold(Fields(), patches)
            #expect(try fold(Fields(), patches.shuffled(using: &random)) == expected)
        }
    }

    @Test func `writes of different keys have the same result in every order, and of one key the last wins`() throws {
        for seed in 0..<200 {
            var random = SplitMix(seed: UInt64(seed))
            let patches = (0..<8).map { key in
                let value: FieldValue = random.next() % 3 == 0 ? .null : .integer(Int64(random.next() % 9))
                return NamedPatch("marks", .keys(["k\(key)": value]))
            }
            let start: Fields = ["marks": .object(["k1": 7, "k9": "stays"])]
            let expected = try fold(start, patches)
            #expect(try fold(start, patches.shuffled(using: &random)) == expected)
            #expect(try fold(expected, patches) == expected)
            let last = try fold(expected, [NamedPatch("marks", .keys(["k3": "last"]))])
            let marks = try #require(last["marks"].flatMap { if case .object(let marks) = $0 { marks } else { nil } })
            #expect(marks["k3"] == "last" && marks["k9"] == "stays")
        }
    }

    @Test func `set additions and maxima change nothing when they are repeated`() throws {
        for seed in 0..<200 {
            var random = SplitMix(seed: UInt64(seed))
            let patches = [
                NamedPatch("tags", .add(words(&random))), NamedPatch("top", .max(.integer(Int64(random.next() % 9)))),
            ]
            let once = try fold(Fields(), patches)
            #expect(try fold(once, patches + patches) == once)
        }
    }

    @Test func `a maximum of negative numbers is the one nearest to zero, and nothing is below all of them`() throws {
        for (field, far, near) in [("top", FieldValue.integer(-7), FieldValue.integer(-3)), ("low", -7.5, -3.25)] {
            #expect(try fold(Fields(), [NamedPatch(field, .max(far))])[field] == far)
            #expect(try fold([field: far], [NamedPatch(field, .max(near))])[field] == near)
            #expect(try fold([field: near], [NamedPatch(field, .max(far))])[field] == near)
        }
        #expect(try fold(["top": -1], [NamedPatch("top", .max(0))])["top"] == 0)
        #expect(
            try fold(["top": .integer(.min)], [NamedPatch("top", .max(.integer(.min + 1)))])["top"]
                == .integer(.min + 1))
    }

    @Test func `a counter is the exact sum of its increments`() throws {
        var random = SplitMix(seed: 3)
        let steps = (0..<100).map { _ in Int64(random.next() % 2_000) - 1_000 }
        let result = try fold(Fields(), steps.map { NamedPatch("count", .increment(.integer($0))) })
        #expect(result["count"] == .integer(steps.reduce(0, +)))
    }

    @Test func `the last write of each element wins, and the last write of a plain field`() throws {
        let result = try fold(
            ["people": ["ann", "bob"], "title": "old"],
            [
                NamedPatch("people", .remove(["bob", "eve"])), NamedPatch("people", .add(["cyd", "bob"])),
                NamedPatch("people", .remove(["ann"])), NamedPatch("title", .set("new")),
            ])
        #expect(result["people"] == ["bob", "cyd"])
        #expect(result["title"] == "new")
    }

    @Test(arguments: [
        (NamedPatch("fixed", .set("x")), "cannot change after creation"),
        (NamedPatch("rank", .set(1)), "only the server writes it"),
        (NamedPatch("tags", .remove(["a"])), "only takes add"), (NamedPatch("count", .set(1)), "only takes increment"),
        (NamedPatch("title", .increment(1)), "takes set and unset"),
        (NamedPatch("title", .set(1)), "must be string, not integer"),
        (NamedPatch("nope", .set(1)), "no such field"), (NamedPatch("people", .set(["a"])), "takes add and remove"),
        (NamedPatch("tags", .add([1])), "not a set of strings"),
    ])
    func `a patch that the rule does not accept is refused with collection, field and reason`(
        _ patch: NamedPatch, _ reason: String
    ) {
        let error = #expect(throws: Rejection.self) { try fold(["fixed": "y"], [patch]) }
        #expect(error?.code == .invalid)
        #expect(error?.message.hasPrefix("notes.\(patch.field): ") == true)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func `a counter that would overflow is refused instead of trapping`() {
        #expect(throws: Rejection.self) {
            try fold(["count": .integer(.max)], [NamedPatch("count", .increment(1))])
        }
    }

    @Test func `a service writes fields that only the server may write`() throws {
        #expect(try fold(Fields(), [NamedPatch("rank", .set(7))], isService: true)["rank"] == 7)
    }

    // MARK: Seen values

    private func mark(_ value: FieldValue?, _ field: String) throws -> ValueMark {
        ValueMark(value, of: try #require(Self.collection.field(field)))
    }

    @Test func `a manual field accepts only a write that has seen its value`() throws {
        let seen = NamedPatch("plan", .set(2), seen: try mark(1, "plan"))
        #expect(try fold(["plan": .double(1)], [seen])["plan"] == .double(2))
        #expect(try fold(["plan": .double(1)], [NamedPatch("plan", .unset, seen: try mark(1, "plan"))]) == Fields())
        let late = #expect(throws: Rejection.self) { try fold(["plan": .double(3)], [seen]) }
        #expect(late?.code == .conflict)
        #expect(late?.message == "notes.plan: changed since the writer saw it")
        #expect(throws: Rejection.self) { try fold(Fields(), [seen]) }
        let mute = NamedPatch("plan", .set(2))
        #expect(throws: Rejection.self) { try fold(["plan": .double(3)], [mute]) }
        #expect(try fold(Fields(), [mute])["plan"] == .double(2))
        #expect(try fold(["plan": .double(3)], [mute], isService: true)["plan"] == .double(2))
    }

    @Test func `of concurrent writes of a manual field exactly the first wins, in every order`() throws {
        for seed in 0..<200 {
            var random = SplitMix(seed: UInt64(seed))
            let start: Fields = ["plan": .double(0)]
            var writes = try (1...5).map { NamedPatch("plan", .set(.double(Double($0))), seen: try mark(0, "plan")) }
            writes.shuffle(using: &random)
            var result = start
            var accepted = 0
            for write in writes {
                guard let next = try? fold(result, [write]) else { continue }
                result = next
                accepted += 1
            }
            #expect(accepted == 1)
            #expect(try fold(start, [writes[0]]) == result)
        }
    }

    @Test func `a mark depends only on the canonical value`() throws {
        #expect(try mark(1, "plan") == mark(.double(1), "plan"))
        #expect(try mark(nil, "plan") == .absent)
        #expect(try mark(.null, "plan") == .absent)
        #expect(try mark("", "title") != .absent)
        #expect(try mark("a", "title") != mark("b", "title"))
        #expect(try mark("a", "title").number == 2_010_009_659_996_235)
    }

    @Test func `only values replaced unseen, under a rule that replaces, are overwritten`() throws {
        let before: Fields = ["title": "theirs", "top": 3]
        let patches = [
            NamedPatch("title", .set("mine"), seen: try mark("old", "title")),
            NamedPatch("top", .set(9), seen: try mark(1, "top")),
        ]
        let after = try fold(before, patches)
        #expect(
            RecordMerge.overwritten(by: patches, from: before, to: after, in: Self.collection)
                == [OverwrittenValue(field: "title", rule: .lww, old: "theirs", new: "mine")])
        for harmless in [
            NamedPatch("title", .set("mine")), NamedPatch("title", .set("mine"), seen: try mark("theirs", "title")),
            NamedPatch("title", .set("theirs"), seen: try mark("old", "title")),
        ] {
            let after = try fold(before, [harmless])
            #expect(RecordMerge.overwritten(by: [harmless], from: before, to: after, in: Self.collection).isEmpty)
        }
    }

    @Test func `a new record is made canonical, and unknown or missing fields are refused`() throws {
        let created = try RecordMerge.created(
            ["people": ["b", "a", "b"], "title": .null], in: Self.collection, isService: false)
        #expect(created == ["people": ["a", "b"]])
        let error = #expect(throws: Rejection.self) {
            try RecordMerge.created(["titel": "x"], in: Self.collection, isService: false)
        }
        #expect(error?.message == "notes.titel: no such field in the schema")
    }

    @Test func `values above the field's limit are refused as too large`() {
        let error = #expect(throws: Rejection.self) {
            try RecordMerge.created(
                ["title": .string(String(repeating: "x", count: 65_537))], in: Self.collection, isService: false)
        }
        #expect(error?.code == .tooLarge)
    }
}
