import TidemarkModel

@testable import Tidemark

extension Workload {
    func openConversation(on device: Device) -> [Mutation]? {
        let id = newID()
        let scope = ScopeID(record: id)
        remembered.append(scope)
        let members = ([device.owner] + random.some(world.plan.users)).map { FieldValue.string($0.text) }
        let title: FieldValue = .string(Self.words("hello", in: scope.text))
        var conversation: Fields = ["title": title, "memberIds": .array(members), "kind": "group"]
        if random.chance(500) {
            conversation["adminIds"] = .array(random.some(world.plan.users).map { .string($0.text) })
        }
        let first: Fields = [
            "conversationId": .string(scope.text), "text": .string(Self.words("first", in: scope.text)),
        ]
        return [create("conversations", id, conversation), create("messages", newID(), first)]
    }

    /// Text that ends with a mark of the scope in which it is written.
    static func words(_ text: String, in scope: String) -> String { text + mark(of: ScopeID(scope)) }

    /// The mark at the end of every text of a scope; nothing else that a device keeps ends with it.
    static func mark(of scope: ScopeID) -> String { "~\(scope.text.suffix(12))" }

    func message(on device: Device) -> [Mutation]? {
        guard let scope = random.pick(device.heldScopes) else { return nil }
        let text = String(repeating: "m", count: 1 + random.below(random.chance(50) ? 1_900 : 60))
        let words = Self.words(text, in: scope)
        return [create("messages", newID(), ["conversationId": .string(scope), "text": .string(words)])]
    }

    func markRead(on device: Device) -> [Mutation]? {
        guard let id = random.pick(device.ids(of: "messages")) else { return nil }
        return [update("messages", id, [NamedPatch("readBy", .add([.string(device.owner.text)]))])]
    }

    func createNote(on device: Device) -> [Mutation]? {
        guard let scope = random.pick(device.heldScopes) else { return nil }
        let body: FieldValue = .string(Self.words("a", in: scope))
        var note: Fields = ["conversationId": .string(scope), "body": body, "count": 1, "high": 1, "kind": "plain"]
        note["sign"] = .string(device.owner.text)
        if random.chance(300) { note["stamp"] = .integer(Int64(random.below(9))) }
        if random.chance(150) { note["grade"] = .integer(Int64(random.below(9))) }
        if random.chance(500) { note["stage"] = random.chance(950) ? "open" : "done" }
        if random.chance(200) { note["stars"] = .integer(Int64(random.below(random.chance(900) ? 6 : 9))) }
        // The parent may be of another conversation, or deleted.
        if random.chance(200), let parent = random.pick(device.ids(of: "notes")) {
            note["parent"] = .string(parent.description)
        }
        return [create("notes", newID(), note)]
    }

    func editNote(on device: Device) -> [Mutation]? {
        let solos = Set(world.devices.compactMap(\.watch.solo))
        guard let id = random.pick(device.ids(of: "notes").filter { !solos.contains($0) }) else { return nil }
        let scope = device.scope(of: RecordKey(collection: "notes", id: id))?.text ?? ""
        let body = Self.words("b\(random.below(1_000))", in: scope)
        let stars = random.chance(900) ? Int64(random.below(6)) : Int64(random.below(12)) - 3
        let all = [
            NamedPatch("stars", random.chance(900) ? .set(.integer(stars)) : .unset),
            NamedPatch("stage", stage(after: device.fields(of: RecordKey(collection: "notes", id: id))?["stage"])),
            NamedPatch("body", random.chance(800) ? .set(.string(body)) : .unset),
            NamedPatch("count", .increment(.integer(Int64(random.below(9)) - 3))),
            NamedPatch("high", .max(.integer(Int64(random.below(1_000))))),
            NamedPatch("tags", .add([.string("t\(random.below(6))")])),
            NamedPatch("labels", random.chance(600) ? .add([.string("l\(random.below(4))")]) : .remove(["l0", "l1"])),
            NamedPatch(
                "marks", .keys(["m\(random.below(4))": random.chance(700) ? .integer(Int64(random.below(9))) : .null])),
            NamedPatch("plan", random.chance(800) ? .set(.string("p\(random.below(5))")) : .unset),
            NamedPatch("stamp", .set(.integer(Int64(random.below(9))))),
            NamedPatch("sign", .set(.string(device.owner.text + "!"))),
            NamedPatch(device.detailField, .set(.object(["deep": .array([.integer(1), .null, .double(1.5)])]))),
        ]
        if random.chance(200) { device.feed(.history(RecordKey(collection: "notes", id: id))) }
        if world.events.isMultiple(of: 3) { device.feed(.compare) }
        // Most users change only the fields that they may change.
        let isBold = random.chance(200)
        let isMoving = random.chance(300)
        let patches = random.some(all).filter {
            (isBold || !["stamp", "sign"].contains($0.field)) && (isMoving || $0.field != "stage")
        }
        return patches.isEmpty ? nil : [update("notes", id, patches)]
    }

    /// A step of a note's stage: mostly one that the schema lists, which another device may have taken before.
    private func stage(after stage: FieldValue?) -> FieldPatch {
        guard random.chance(850) else {
            return random.chance(200) ? .unset : .set(random.pick(["open", "doing", "done", "lost"]) ?? "open")
        }
        switch stage {
        case "open": return .set(random.chance(700) ? "doing" : "done")
        case "doing": return .set("done")
        default: return .set("open")
        }
    }

    /// A label that others may have created as well: its name makes its id.
    func label(on device: Device) -> [Mutation]? {
        if random.chance(400), let id = random.pick(device.ids(of: "labels")) {
            return [update("labels", id, [NamedPatch("color", .set(.string("c\(random.below(9))")))])]
        }
        guard let scope = random.pick(device.heldScopes) else { return nil }
        let (name, color) = ("l\(random.below(5))", "c\(random.below(3))")
        // Few use an id that does not come from the name.
        let id = random.chance(950) ? DerivedID.make(["label", name]) : newID()
        return [
            create(
                "labels", id, ["conversationId": .string(scope), "name": .string(name), "color": .string(color)])
        ]
    }

    func delete(_ collection: String, on device: Device) -> [Mutation]? {
        let solos = Set(world.devices.compactMap(\.watch.solo))
        guard let id = random.pick(device.ids(of: collection).filter { !solos.contains($0) }) else { return nil }
        let key = RecordKey(collection: collection, id: id)
        return [bury(key, on: device)]
    }

    /// The deletion of a record that the device shows; the workload remembers it.
    private func bury(_ key: RecordKey, on device: Device) -> Mutation {
        deleted[key] = device.scope(of: key)
        buried[key] = device.fields(of: key)
        return Mutation(key: key, action: .delete)
    }

    /// Restores a deleted record, as any of its users, unchanged or changed.
    func undelete(on device: Device) -> [Mutation]? {
        guard let key = random.pick(deleted.keys.sorted()), let scope = deleted[key] else { return nil }
        return [restore(key, in: scope, on: device)]
    }

    /// Deletes a record and restores it at once: in one transaction, or in two.
    func replace(_ collection: String, on device: Device) -> [Mutation]? {
        let solos = Set(world.devices.compactMap(\.watch.solo))
        guard let id = random.pick(device.ids(of: collection).filter { !solos.contains($0) }) else { return nil }
        let key = RecordKey(collection: collection, id: id)
        guard let scope = device.scope(of: key) else { return nil }
        let deletion = bury(key, on: device)
        if random.chance(300) {
            write([deletion], on: device)
            guard device.machine != nil else { return nil }
            return [restore(key, in: scope, on: device)]
        }
        return [deletion, restore(key, in: scope, on: device)]
    }

    /// Removes the creator of a conversation, and deletes the conversation.
    func depose(on device: Device) -> [Mutation]? {
        guard let scope = random.pick(device.heldScopes), let id = UniqueID(scope) else { return nil }
        let key = RecordKey(collection: "conversations", id: id)
        guard let author = device.author(of: key), author != device.owner else { return nil }
        let removal = update("conversations", id, [NamedPatch("memberIds", .remove([.string(author.text)]))])
        let deletion = bury(key, on: device)
        if random.chance(500) { return [removal, deletion] }
        write([removal], on: device)
        return device.machine == nil ? nil : [deletion]
    }

    private func restore(_ key: RecordKey, in scope: ScopeID, on device: Device) -> Mutation {
        var fields = buried[key] ?? Fields()
        if key.collection != "conversations", key.collection != "directory" {
            fields["conversationId"] = .string(scope.text)
        }
        switch key.collection {
        case "conversations":
            if fields["memberIds"] == nil || random.chance(400) {
                let members = ([device.owner] + random.some(world.plan.users)).map { FieldValue.string($0.text) }
                fields["memberIds"] = .array(members)
            }
        case "messages": if fields["text"] == nil { fields["text"] = "again" }
        case "directory": fields["name"] = "again"
        case "labels": if fields["name"] == nil { fields["name"] = "l0" }
        default: break
        }
        guard random.chance(600) else { return Mutation(key: key, action: .undelete(fields)) }
        let others: Fields =
            switch key.collection {
            case "conversations":
                ["title": "again", "kind": "other", "adminIds": .array([.string(device.owner.text)])]
            case "messages": ["text": "other words"]
            case "directory": ["name": "other"]
            case "labels": ["name": "l1", "color": "other"]
            default:
                [
                    "body": "again", "count": 7, "high": 0, "tags": ["other"], "kind": "other", "grade": 9, "stamp": 99,
                    "stars": 4, "stage": "open",
                    "sign": "other", "labels": ["l9"], "marks": .object(["m9": 9]),
                    device.detailField: .null,
                ]
            }
        for entry in random.some(others.entries) { fields[entry.name] = entry.value }
        return Mutation(key: key, action: .undelete(fields))
    }

    /// Grants, revocations and grants again, mostly of others, sometimes of oneself.
    func changeMembers(on device: Device) -> [Mutation]? {
        guard let scope = random.pick(device.heldScopes), let id = UniqueID(scope) else { return nil }
        let who: FieldValue = .string(random.pick(world.plan.users)?.text ?? device.owner.text)
        let patch: NamedPatch
        switch random.below(10) {
        case 0..<4: patch = NamedPatch("memberIds", .remove([who]))
        case 4..<8: patch = NamedPatch("memberIds", .add([who]))
        case 8: patch = NamedPatch("adminIds", random.chance(500) ? .add([who]) : .remove([who]))
        default: patch = NamedPatch("title", .set(.string("title \(random.below(100))")))
        }
        let first = update("conversations", id, [patch])
        guard case .remove = patch.patch, random.chance(300) else { return [first] }
        // Out and in again, in one transaction.
        return [first, update("conversations", id, [NamedPatch("memberIds", .add([who]))])]
    }

    func visitDirectory(on device: Device) -> [Mutation]? {
        let ids = device.ids(of: "directory")
        guard random.chance(600), let id = random.pick(ids) else {
            return [create("directory", newID(), ["name": .string("shop \(random.below(100))")])]
        }
        return [update("directory", id, [NamedPatch("visits", .increment(1))])]
    }

    /// The record that no other device writes, with a revision that rises with every write.
    func writeSolo(on device: Device) -> [Mutation]? {
        if let solo = device.watch.solo, let revision = device.revision(of: solo) {
            return [update("notes", solo, [NamedPatch("rev", .set(.integer(revision + 1)))])]
        }
        guard device.watch.solo == nil, let scope = random.pick(device.heldScopes) else { return nil }
        let id = newID()
        device.watch.solo = id
        return [create("notes", id, ["conversationId": .string(scope), "rev": 1])]
    }

    private func update(_ collection: String, _ id: LocalID, _ patches: [NamedPatch]) -> Mutation {
        Mutation(key: RecordKey(collection: collection, id: id), action: .update(patches))
    }
}
