package import TidemarkModel

/// The beginning of an epoch of a workspace's order: one row of its lineage (LINEAGE.md). The first epoch has none.
package struct EpochStart: Hashable, Sendable {
    package var epoch: Epoch
    /// The number of the batch that begins the epoch and holds nothing else.
    package var first: SequenceNumber
    /// The nonce of the batch before; 0 where there is none.
    package var baseNonce: UInt64
    package var time: Milliseconds
    package var reason: EpochReason
    /// The highest number of the lost history that is proved; 0 if none is.
    package var lost: SequenceNumber

    package init(
        epoch: Epoch, first: SequenceNumber, baseNonce: UInt64, time: Milliseconds, reason: EpochReason,
        lost: SequenceNumber
    ) {
        self.epoch = epoch
        self.first = first
        self.baseNonce = baseNonce
        self.time = time
        self.reason = reason
        self.lost = lost
    }
}

/// The reason why an epoch begins. The raw value is stored and is the label of a metric.
package enum EpochReason: String, Hashable, Sendable, CaseIterable {
    /// A node found that its own head is no longer stored.
    case head
    /// A client presented a cursor that a server has sealed and whose batch is not stored.
    case cursor
    /// A backup was restored.
    case restore
    /// An operator requested it.
    case command

    /// - Parameter text: the stored text; a reason that a later version added is treated as ``command``.
    package init(stored text: String) { self = EpochReason(rawValue: text) ?? .command }
}

/// A request to begin an epoch on a condition: of any number of callers with the same request, one has an effect.
package struct EpochRaise: Hashable, Sendable {
    /// The condition on the stored order, judged while the workspace is locked.
    package enum Condition: Hashable, Sendable {
        /// A batch that a server is known to have committed is not stored. It is known from the server's own head or
        /// from a sealed cursor, never from a client's claim.
        case lost(Head)
        /// The order is in this epoch.
        case standing(Epoch)
    }

    package var condition: Condition
    package var reason: EpochReason
    /// The nonce of the batch that begins the epoch: random.
    package var nonce: UInt64
    package var now: Milliseconds

    package init(_ condition: Condition, reason: EpochReason, nonce: UInt64, now: Milliseconds) {
        self.condition = condition
        self.reason = reason
        self.nonce = nonce
        self.now = now
    }

    /// The number whose batch must be looked up before the condition is judged; `nil` if none must.
    package var lookup: SequenceNumber? {
        guard case .lost(let head) = condition, head.seq > 0 else { return nil }
        return head.seq
    }

    /// Returns what to write; `nil` where the condition does not hold. It judges what was read under the workspace's
    /// lock.
    ///
    /// A batch of an epoch before the present one is no proof: the beginning of this epoch may be the reason why it is
    /// not stored. Batches behind the horizon are not stored in any case.
    ///
    /// - Parameters:
    ///   - head: the end of the order.
    ///   - found: the batch that holds ``lookup``.
    package func step(at head: Head, holding found: Head?, horizon: SequenceNumber) -> EpochStep? {
        var known = head.epoch
        var lost: SequenceNumber = 0
        switch condition {
        case .standing(let epoch): guard epoch == head.epoch else { return nil }
        case .lost(let batch):
            guard batch.seq > 0, batch.seq >= horizon, batch.epoch >= head.epoch, !batch.isOfHistory(holding: found)
            else { return nil }
            known = batch.epoch
            lost = batch.seq
        }
        let (epoch, overflows) = known.addingReportingOverflow(1)
        guard !overflows else { return nil }
        let start = EpochStart(
            epoch: epoch, first: head.seq + 1, baseNonce: head.nonce, time: max(now, head.time), reason: reason,
            lost: lost)
        var batch = CommittedBatch(
            low: start.first, head: Head(seq: start.first, nonce: nonce, time: start.time, epoch: epoch))
        batch.baseNonce = head.nonce
        return EpochStep(start: start, batch: batch)
    }
}

/// The row of the lineage and the batch that begin an epoch, written in one transaction.
package struct EpochStep: Hashable, Sendable {
    package var start: EpochStart
    package var batch: CommittedBatch
}

/// The result of an ``EpochRaise``.
package enum EpochOutcome: Hashable, Sendable {
    /// The epoch has begun, on disk.
    case raised(EpochStart, Head)
    /// The condition does not hold; the value is the end of the order.
    case stands(Head)

    /// The end of the order.
    package var head: Head {
        switch self {
        case .raised(_, let head), .stands(let head): head
        }
    }
}

extension SessionSnapshot {
    /// Returns whether `noteLoss` needs the lineage to be read.
    package func mayHaveLost(_ position: Head?) -> Bool {
        guard let position, position.seq > 0, position.epoch < head.epoch else { return false }
        return !position.isOfHistory(holding: lineage)
    }

    /// True when a batch that this process has delivered is not stored any more: the database went back, and its tail has not
    /// found out yet.
    ///
    /// - Parameter delivered: the end of what was delivered before the snapshot was read.
    package func lacks(_ delivered: Head?) -> Bool {
        guard let delivered else { return false }
        return head.seq <= delivered.seq && head.nonce != delivered.nonce
    }

    /// Notes the number from which on the client's copy is certain to be of a lost history. That is the first number of
    /// an epoch that the client does not know; if the epoch began beyond `position`, the number of `position` itself.
    ///
    /// - Parameters:
    ///   - position: the client's position, under the seal.
    ///   - lineage: the epochs of the order as they are stored.
    package mutating func noteLoss(of position: Head?, _ lineage: [EpochStart]) {
        guard let position, mayHaveLost(position) else { return }
        let first = lineage.filter { $0.epoch > position.epoch }.map(\.first).min()
        if let first, first <= position.seq {
            lost = first
        } else if position.seq >= horizon {
            // Other writes came before the loss was proved.
            lost = position.seq
        }
    }

    /// Returns the proof that the database went back: a position issued by a server, if its batch is not stored and no
    /// epoch has begun since.
    ///
    /// - Parameter position: the position whose number was looked up; `nil` where there is none, or it is not under the
    ///   seal.
    package func proof(by position: Head?) -> EpochRaise.Condition? {
        guard let position, position.seq > 0, position.seq >= horizon, position.epoch >= head.epoch,
            !position.isOfHistory(holding: lineage)
        else { return nil }
        return .lost(position)
    }
}
