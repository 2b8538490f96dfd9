import GRDB
import TidemarkModel

@testable import Tidemark

/// The actions of apps: each is one local transaction on some device, connected or not.
final class Workload {
    unowned let world: World
    var random: SplitMix
    /// Ids that several users use as if each had made them.
    private let contested: [LocalID]
    /// Scopes and records that existed once; users act on what they remember.
    var remembered: [ScopeID] = []
    var deleted: [RecordKey: ScopeID] = [:]
    /// The fields of deleted records, as their devices showed them.
    var buried: [RecordKey: Fields] = [:]

    init(_ world: World) {
        self.world = world
        random = SplitMix(seed: world.plan.seed, "workload")
        contested = (0..<3).map { UniqueID(high: 0x0bad, low: $0) }
    }

    func schedule() {
        for _ in 0..<world.plan.actionCount {
            world.after(random.within(0...world.plan.chaosTime)) { self.act() }
        }
        // Users begin with a conversation.
        world.after(1) { self.onWriter { self.openConversation(on: $0) } }
    }

    private func act() { onWriter { self.choose(on: $0) } }

    private func onWriter(_ action: (Device) -> [Mutation]?) {
        let writers = world.devices.filter { !$0.isReader && $0.machine != nil }
        guard let device = random.pick(writers) else { return }
        for _ in 0..<(random.chance(150) ? 4 : world.plan.isTalkative ? 5 : 1) {
            guard device.machine != nil, let mutations = action(device), !mutations.isEmpty else { return }
            write(mutations, on: device)
        }
    }

    private func choose(on device: Device) -> [Mutation]? {
        // Refused transactions are handled often: sent again late, they meet what others wrote meanwhile.
        if random.chance(80) { return dealWithParked(on: device) }
        if world.compactions.planned > 0, random.chance(250) {
            return delete(["notes", "notes", "messages", "conversations"][random.below(4)], on: device)
        }
        if world.plan.isTalkative, random.chance(900) { return message(on: device) }
        switch random.below(100) {
        case 0..<8: return openConversation(on: device)
        case 8..<24: return message(on: device)
        case 24..<30: return markRead(on: device)
        case 30..<38: return createNote(on: device)
        case 38..<50: return editNote(on: device)
        case 50..<54: return openForm(on: device)
        case 54..<59: return delete(["notes", "labels", "messages", "directory"][random.below(4)], on: device)
        case 59..<62: return undelete(on: device)
        case 62..<64: return replace(["notes", "notes", "messages", "conversations"][random.below(4)], on: device)
        case 64..<66: return depose(on: device)
        case 66..<78: return changeMembers(on: device)
        case 78..<80: return delete("conversations", on: device)
        case 80..<84: return visitDirectory(on: device)
        case 84..<86: return contest(on: device)
        case 86..<91: return writeSolo(on: device)
        case 91..<93: return label(on: device)
        case 93..<96: return (message(on: device) ?? []) + (createNote(on: device) ?? []) + (editNote(on: device) ?? [])
        case 96..<98: return intrude(on: device)
        default:
            if random.chance(300) { device.retryStalled() }
            return dealWithParked(on: device)
        }
    }

    private func contest(on device: Device) -> [Mutation]? {
        guard let id = random.pick(contested), let scope = random.pick(device.heldScopes) else { return nil }
        return [create("notes", id, ["conversationId": .string(scope), "body": .string(device.owner.text)])]
    }

    /// Writes into a conversation that the device knows of, member or not.
    private func intrude(on device: Device) -> [Mutation]? {
        guard let scope = random.pick(remembered) else { return nil }
        return [create("messages", newID(), ["conversationId": .string(scope.text), "text": "let me in"])]
    }

    /// A form that is open for a while, and saved whatever has arrived meanwhile.
    private func openForm(on device: Device) -> [Mutation]? {
        let solos = Set(world.devices.compactMap(\.watch.solo))
        guard let id = random.pick(device.ids(of: "notes").filter({ !solos.contains($0) })),
            let shown = device.form(of: id)
        else { return nil }
        var edited = shown
        edited.body = "form \(random.below(1_000))"
        if random.chance(300) { edited.plan = "p\(random.below(5))" }
        if random.chance(300) { edited.high = 500 + random.below(1_000) }
        let (transaction, isStrict) = (newID(), random.chance(400))
        world.after(random.within(0...5_000)) { [edited] in
            device.save(edited, from: shown, isStrict: isStrict, as: transaction)
        }
        return nil
    }

    private func dealWithParked(on device: Device) -> [Mutation]? {
        if random.chance(300) {
            let (kept, id) = (random.below(3), newID())
            device.resolveConflict(newID: id) { field in
                switch kept {
                case 0: nil
                case 1: field.mine.map { .set($0) } ?? .unset
                default: .set("both")
                }
            }
            return nil
        }
        guard let parked = try? device.database.parked(), let stored = random.pick(parked) else { return nil }
        device.dealWithParked(stored, newID: newID(), isRetried: random.chance(600))
        return nil
    }

    func create(_ collection: String, _ id: LocalID, _ fields: Fields) -> Mutation {
        Mutation(key: RecordKey(collection: collection, id: id), action: .create(fields))
    }

    func newID() -> UniqueID {
        UniqueID.version7(milliseconds: world.now, random: (random.next(), random.next()))
    }

    func write(_ mutations: [Mutation], on device: Device) {
        var transaction = Transaction(id: newID(), mutations: mutations, clientTime: device.clock)
        if random.chance(60) { transaction.ifSeq = max(0, device.position() - Int64(random.below(4))) }
        if world.isChaotic, random.chance(world.plan.faults.poison) { world.poison.insert(transaction.id) }
        // Most apps use the API for writes.
        guard transaction.ifSeq == nil, random.chance(600) else { return device.write(transaction) }
        device.writeAsApp(transaction, inParts: random.chance(700))
    }
}
