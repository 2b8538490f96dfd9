import TidemarkModel

/// The seeded plan of mishaps: kills, and devices without network. Positions count messages.
struct Mishaps: Hashable, Sendable {
    /// A device that is offline from one message to another.
    struct Absence: Hashable, Sendable {
        let device: Int
        let from: Int
        let until: Int
    }

    let kills: [Int]
    let absences: [Absence]

    /// Spreads `kills` over the play, and takes each device off the network about twice, never all at once.
    init(messages: Int, devices: Int, kills: Int, seed: UInt64) {
        var generator = SplitMix(seed: seed ^ 0x6d69_7368_6170_7321)
        let step = messages / (kills + 1)
        self.kills = (0..<kills).map { index in
            let middle = (index + 1) * step
            return max(1, middle + Int.random(in: -step / 4...max(0, step / 4), using: &generator))
        }
        var absences: [Absence] = []
        // Devices take turns, so that the others can be seen to continue.
        let turns = devices * 2
        let turn = max(1, messages / (turns + 1))
        for index in 0..<turns {
            let from = index * turn + Int.random(in: 0...turn / 2, using: &generator)
            absences.append(Absence(device: index % devices, from: from, until: from + turn))
        }
        self.absences = devices > 1 ? absences : []
    }
}
