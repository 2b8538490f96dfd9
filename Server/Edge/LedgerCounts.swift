/// The counts of a ``ConnectionLedger``: a pure machine.
struct LedgerCounts {
    /// A connection that is not authenticated.
    private struct Stranger {
        /// `nil` over a local socket.
        var network: UInt64?
        /// Bytes of an unfinished message that are counted against the common bound.
        var bytes = 0
    }

    /// The connections and bytes of one network's strangers.
    private struct Share {
        var connections = 0
        var bytes = 0
    }

    /// Connections, including those for probes.
    private(set) var open = 0
    private(set) var refused = 0
    private var strangers: [ObjectIdentifier: Stranger] = [:]
    private var shares: [UInt64: Share] = [:]
    /// Counted bytes of all strangers.
    private(set) var unauthenticatedBytes = 0
    /// Connections that arrived when all slots were taken, oldest first.
    private var probes: [(key: ObjectIdentifier, network: UInt64?)] = []

    /// The number of strangers, except those over local sockets.
    var unauthenticated: Int { shares.values.reduce(0) { $0 + $1.connections } }

    /// - Returns: the requests that the connection may make, and an older connection that it replaces.
    mutating func admit(
        _ key: ObjectIdentifier, from network: UInt64?, _ limits: EdgeLimits
    ) -> (admission: ConnectionLedger.Admission, evicted: ObjectIdentifier?) {
        guard open - probes.count < limits.connectionsMax, hasRoom(for: network, limits) else {
            refused += 1
            return admitProbe(key, from: network, limits)
        }
        open += 1
        add(key, of: network)
        return (.everything, nil)
    }

    /// Admits a probe in preference to the oldest one: a probe takes a moment, so that a connection that stays longer
    /// is not one.
    private mutating func admitProbe(
        _ key: ObjectIdentifier, from network: UInt64?, _ limits: EdgeLimits
    ) -> (ConnectionLedger.Admission, ObjectIdentifier?) {
        guard limits.probesMax > 0, limits.probesPerAddressMax > 0 else { return (.nothing, nil) }
        let ofNetwork = probes.count { $0.network == network }
        var evicted: ObjectIdentifier?
        if ofNetwork >= limits.probesPerAddressMax {
            evicted = probes.first { $0.network == network }?.key
        } else if probes.count >= limits.probesMax {
            evicted = probes.first?.key
        }
        probes.removeAll { $0.key == evicted }
        open += 1
        probes.append((key, network))
        return (.probe, evicted)
    }

    mutating func release(_ key: ObjectIdentifier) {
        open -= 1
        probes.removeAll { $0.key == key }
        forgetStranger(key)
    }

    mutating func forgetStranger(_ key: ObjectIdentifier) {
        guard let stranger = strangers.removeValue(forKey: key) else { return }
        unauthenticatedBytes -= stranger.bytes
        guard let network = stranger.network, var share = shares[network] else { return }
        share.connections -= 1
        share.bytes -= stranger.bytes
        shares[network] = share.connections > 0 ? share : nil
    }

    /// Moves an unauthenticated connection to another network. False when that network has too many; then
    /// nothing changes.
    mutating func move(_ key: ObjectIdentifier, to network: UInt64?, _ limits: EdgeLimits) -> Bool {
        guard let stranger = strangers[key], stranger.network != network else { return true }
        guard hasRoom(for: network, limits) else {
            refused += 1
            return false
        }
        forgetStranger(key)
        strangers[key] = Stranger(network: network, bytes: stranger.bytes)
        unauthenticatedBytes += stranger.bytes
        guard let network else { return true }
        shares[network, default: Share()].connections += 1
        shares[network]?.bytes += stranger.bytes
        return true
    }

    mutating func idle(_ key: ObjectIdentifier, from network: UInt64?, _ limits: EdgeLimits) -> Bool {
        guard strangers[key] == nil, !probes.contains(where: { $0.key == key }) else { return true }
        guard hasRoom(for: network, limits) else { return false }
        add(key, of: network)
        return true
    }

    mutating func hold(_ bytes: Int, for key: ObjectIdentifier, _ limits: EdgeLimits) -> Bool {
        guard let stranger = strangers[key] else { return true }
        let counted = bytes > limits.unauthenticatedBytesFree ? bytes : 0
        let more = counted - stranger.bytes
        guard more <= 0 || unauthenticatedBytes + more <= limits.unauthenticatedBytesMax else { return false }
        if let network = stranger.network {
            let ofNetwork = (shares[network]?.bytes ?? 0) + more
            // If all clients share one address, behind a proxy, it has no bound of its own.
            guard
                more <= 0 || limits.unauthenticatedPerAddressMax == nil
                    || ofNetwork <= limits.unauthenticatedBytesPerAddressMax
            else { return false }
            shares[network]?.bytes = ofNetwork
        }
        strangers[key]?.bytes = counted
        unauthenticatedBytes += more
        return true
    }

    private mutating func add(_ key: ObjectIdentifier, of network: UInt64?) {
        strangers[key] = Stranger(network: network)
        if let network { shares[network, default: Share()].connections += 1 }
    }

    private func hasRoom(for network: UInt64?, _ limits: EdgeLimits) -> Bool {
        guard let most = limits.unauthenticatedPerAddressMax, let network else { return true }
        return (shares[network]?.connections ?? 0) < most
    }
}
