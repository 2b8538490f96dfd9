import TidemarkModel

@testable import Tidemark

extension Workload {
    func openConversation(on device: Device) -> [Mutation]? {
        let id = newID()
        let scope = ScopeID(record: id)
        remembered.append(scope)
        let members = ([device.owner] + random.some(world.plan.users)).map { FieldValue.string($0.text) }
        let conversation: Fields = ["title": "hello", "memberIds": .array(members)]
        let first: Fields = ["conversationId": .string(scope.text), "text": "first"]
        return [create("conversations", id, conversation), create("messages", newID(), first)]
    }

    func message(on device: Device) -> [Mutation]? {
        guard let scope = random.pick(device.heldScopes) else { return nil }
        let text = String(repeating: "m", count: 1 + random.below(random.chance(50) ? 1_900 : 60))
        return [create("messages", newID(), ["conversationId": .string(scope), "text": .string(text)])]
    }

    func markRead(on device: Device) -> [Mutation]? {
        guard let id = random.pick(device.ids(of: "messages")) else { return nil }
        return [update("messages", id, [NamedPatch("readBy", .add([.string(device.owner.text)]))])]
    }

    func createNote(on device: Device) -> [Mutation]? {
        guard let scope = random.pick(device.heldScopes) else { return nil }
        return [create("notes", newID(), ["conversationId": .string(scope), "body": "a", "count": 1, "high": 1])]
    }

    func editNote(on device: Device) -> [Mutation]? {
        let solos = Set(world.devices.compactMap(\.watch.solo))
        guard let id = random.pick(device.ids(of: "notes").filter { !solos.contains($0) }) else { return nil }
        let all = [
            NamedPatch("body", random.chance(800) ? .set(.string("b\(random.below(1_000))")) : .unset),
            NamedPatch("count", .increment(.integer(Int64(random.below(9)) - 3))),
            NamedPatch("high", .max(.integer(Int64(random.below(1_000))))),
            NamedPatch("tags", .add([.string("t\(random.below(6))")])),
            NamedPatch("labels", random.chance(600) ? .add([.string("l\(random.below(4))")]) : .remove(["l0", "l1"])),
            NamedPatch(
                "marks", .keys(["m\(random.below(4))": random.chance(700) ? .integer(Int64(random.below(9))) : .null])),
            NamedPatch("plan", random.chance(800) ? .set(.string("p\(random.below(5))")) : .unset),
            NamedPatch("detail", .set(.object(["deep": .array([.integer(1), .null, .double(1.5)])]))),
        ]
        if random.chance(200) { device.feed(.history(RecordKey(collection: "notes", id: id))) }
        if world.events.isMultiple(of: 3) { device.feed(.compare) }
        let patches = random.some(all)
        return patches.isEmpty ? nil : [update("notes", id, patches)]
    }

    func delete(_ collection: String, on device: Device) -> [Mutation]? {
        let solos = Set(world.devices.compactMap(\.watch.solo))
        guard let id = random.pick(device.ids(of: collection).filter { !solos.contains($0) }) else { return nil }
        let key = RecordKey(collection: collection, id: id)
        deleted[key] = device.scope(of: key)
        return [Mutation(key: key, action: .delete)]
    }

    func undelete(on device: Device) -> [Mutation]? {
        guard let key = random.pick(deleted.keys.sorted()), let scope = deleted[key] else { return nil }
        switch key.collection {
        case "conversations":
            let members = ([device.owner] + random.some(world.plan.users)).map { FieldValue.string($0.text) }
            return [Mutation(key: key, action: .undelete(["title": "again", "memberIds": .array(members)]))]
        case "notes":
            return [Mutation(key: key, action: .undelete(["conversationId": .string(scope.text), "body": "again"]))]
        case "messages":
            return [Mutation(key: key, action: .undelete(["conversationId": .string(scope.text), "text": "again"]))]
        default: return [Mutation(key: key, action: .undelete(["name": "again"]))]
        }
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

    /// The record that nobody else touches, with a revision that rises with every write.
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
