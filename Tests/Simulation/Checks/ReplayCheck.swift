import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// I-14: the messages of a reader give the same copy in another database, with frames applied twice and pages late.
struct ReplayCheck {
    private let device: Device

    init(_ device: Device) { self.device = device }

    func run() throws {
        let world = device.world
        var random = SplitMix(seed: world.plan.seed, "replay")
        // The recording has pages that a user asked for, but not the requests: here all pages are wanted.
        var limits = world.plan.local
        limits.cache.filling = .everything
        let database = try LocalDatabase.inMemory(
            account: device.owner, schema: device.schema, newClient: device.client, limits: limits)
        var late: [PageAnswer] = []
        for message in device.recording {
            switch message {
            case .welcome(let welcome):
                for _ in 0..<2 { try database.welcomed(welcome) }
            case .changes(let changes):
                try database.apply(changes, now: 0)
                if random.chance(300) { try repeated(changes, database) }
            case .page(let page):
                // Pages of one collection stay in order, since each is requested after the one before it.
                let mustWait = late.contains { $0.scope == page.scope && $0.collection == page.collection }
                if mustWait || random.chance(400) {
                    late.append(page)
                } else {
                    for _ in 0..<(random.chance(300) ? 2 : 1) { try database.apply(page) }
                }
            case .history, .compared, .authOK, .error, .goAway, .ephemeral, .unknownExtension: break
            }
            if let first = late.first, random.chance(200) {
                try database.apply(first)
                late.removeFirst()
            }
        }
        for page in late { try database.apply(page) }
        try compare(try LocalCopy(database), try LocalCopy(device.database))
    }

    /// A frame that was applied before is refused, and changes nothing.
    private func repeated(_ changes: Changes, _ database: LocalDatabase) throws {
        guard changes.from != changes.cursor else { return }
        do {
            try database.apply(changes, now: 0)
        } catch let error as StoreError where error.code == .cursorMismatch {
            return
        }
        throw Violation(invariant: .idempotence, message: "a frame was taken twice")
    }

    private func compare(_ replayed: LocalCopy, _ original: LocalCopy) throws(Violation) {
        try check(replayed.scopes == original.scopes, .idempotence, "a replay holds other scopes")
        try check(replayed.fillings == original.fillings, .idempotence, "a replay is filled to another extent")
        let differing = Set(replayed.visible.keys).symmetricDifference(original.visible.keys).sorted {
            "\($0)" < "\($1)"
        }
        for key in differing {
            let place = replayed.visible[key] == nil ? "the device" : "the replay"
            let born = (replayed.visible[key] ?? original.visible[key])?.record.born ?? 0
            try check(false, .idempotence, "only \(place) shows \(key), born \(born)")
        }
        for (key, shown) in original.visible {
            try check(replayed.visible[key]?.record == shown.record, .idempotence, "\(key) differs in a replay")
        }
    }
}
