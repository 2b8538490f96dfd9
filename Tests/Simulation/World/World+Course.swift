import TidemarkModel

extension World {
    /// The whole course of one seed: chaos, healing, and the state of peace in which everything is compared.
    func runCourse() {
        for node in nodes { node.start() }
        for device in devices { device.launch(after: Milliseconds(device.number) * 40) }
        raw.begin()
        Workload(self).schedule()
        Chatter(self).schedule()
        Mischief(self).schedule()
        rewinds.schedule()
        compactions.schedule()
        erasures.schedule()
        damages.schedule()
        files.schedule()
        salvages.schedule()
        signOuts.schedule()
        rotations.schedule()
        extensions.schedule()
        let liveness = LivenessCheck(self)
        liveness.schedule()
        run(until: Self.beginning + plan.chaosTime)
        guard violation == nil else { return }
        heal()
        let deadline = now + SimulationPlan.healingMax
        while violation == nil, now < deadline {
            run(until: now + 2_000)
            if isAtPeace { break }
        }
        guard violation == nil else { return }
        require(isAtPeace, .convergence, unrest)
        EndCheck(self).run()
        withExtendedLifetime(liveness) {}
    }

    private func heal() {
        log("heal")
        isChaotic = false
        for node in nodes where !node.isUp { node.start() }
        for device in devices { device.heal() }
        adoptOn(every: 1_000)
    }

    /// Users who open their apps.
    private func adoptOn(every pause: Milliseconds) {
        guard !extensions.isDone else { return }
        for device in devices { extensions.adopt(on: device) }
        after(pause) { self.adoptOn(every: pause) }
    }

    /// True when no activity is left.
    private var isAtPeace: Bool {
        raw.isDone && extensions.isDone && devices.allSatisfy(\.isSettled)
            && nodes.allSatisfy { $0.isIdle && $0.revocationsKnown == signOuts.rows.count }
    }

    private var unrest: String {
        let devices = devices.filter { !$0.isSettled }.map(\.unrest)
        return (devices + (raw.isDone ? [] : [raw.unrest])).joined(separator: "; ")
    }
}
