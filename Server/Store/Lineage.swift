package import TidemarkModel

/// Where an epoch of a workspace's order begins: one row of its lineage (LINEAGE.md). The first epoch has none.
package struct EpochStart: Hashable, Sendable {
    package var epoch: Epoch
    /// The number of the batch that begins it, which holds nothing else.
    package var first: SequenceNumber
    /// The nonce of the batch before; 0 where there is none.
    package var baseNonce: UInt64
    package var time: Milliseconds
    package var reason: EpochReason
    /// The highest number of the lost history that is proved; 0 where nothing is known of it.
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

/// Why an epoch begins. The raw value is stored, and is the label of a metric.
package enum EpochReason: String, Hashable, Sendable, CaseIterable {
    /// A node found its own head not to be there any more.
    case head
    /// A client came with a cursor that a server has sealed, and whose batch is not there.
    case cursor
    /// A backup was restored.
    case restore
    /// An operator said so.
    case command

    /// - Parameter text: as it is stored; what a later version has added counts as ``command``.
    package init(stored text: String) { self = EpochReason(rawValue: text) ?? .command }
}

/// What begins an epoch, and on what condition: of any number of callers that say the same, one has an effect.
package struct EpochRaise: Hashable, Sendable {
    /// What must hold of the stored order, as of the moment in which the workspace is locked.
    package enum Condition: Hashable, Sendable {
        /// A batch that a server is known to have committed, as its own head or out of a cursor under a seal, is not stored.
        /// What a client merely says is none.
        case lost(Head)
        /// The order is in this epoch.
        case standing(Epoch)
    }

    package var condition: Condition
    package var reason: EpochReason
    /// Of the batch that begins the epoch: random.
    package var nonce: UInt64
    package var now: Milliseconds

    package init(_ condition: Condition, reason: EpochReason, nonce: UInt64, now: Milliseconds) {
        self.condition = condition
        self.reason = reason
        self.nonce = nonce
        self.now = now
    }

    /// The number whose batch is to be looked up before this is judged; `nil` where none needs to be.
    package var lookup: SequenceNumber? {
        guard case .lost(let head) = condition, head.seq > 0 else { return nil }
        return head.seq
    }

    /// What is to be written; `nil` where the condition does not hold. Judged on what is read under the workspace's lock.
    ///
    /// A batch of an epoch before the present one is no proof: that this epoch began may well be why it is not there. And
    /// what is behind the horizon is not there in any case.
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

/// What became of an ``EpochRaise``.
package enum EpochOutcome: Hashable, Sendable {
    /// The epoch has begun, on disk.
    case raised(EpochStart, Head)
    /// The condition does not hold: this is the end of the order.
    case stands(Head)

    /// The end of the order.
    package var head: Head {
        switch self {
        case .raised(_, let head), .stands(let head): head
        }
    }
}

extension SessionSnapshot {
    /// Whether the lineage is to be read for `noteLoss`.
    package func mayHaveLost(_ place: Head?) -> Bool {
        guard let place, place.seq > 0, place.epoch < head.epoch else { return false }
        return !place.isOfHistory(holding: lineage)
    }

    /// True when a batch that this process has delivered is not stored any more: the database went back, and its tail has not
    /// found out yet.
    ///
    /// - Parameter delivered: the end of what was delivered before the snapshot was read.
    package func lacks(_ delivered: Head?) -> Bool {
        guard let delivered else { return false }
        return head.seq <= delivered.seq && head.nonce != delivered.nonce
    }

    /// Notes from which number on the client's copy is of a lost history for certain: the first of an epoch that it does not
    /// know, or where that began late, the number of `place` itself.
    ///
    /// - Parameters:
    ///   - place: where the client stands, under the seal.
    ///   - lineage: the epochs of the order as they are stored.
    package mutating func noteLoss(of place: Head?, _ lineage: [EpochStart]) {
        guard let place, mayHaveLost(place) else { return }
        let first = lineage.filter { $0.epoch > place.epoch }.map(\.first).min()
        if let first, first <= place.seq {
            lost = first
        } else if place.seq >= horizon {
            // Others wrote before anybody proved it.
            lost = place.seq
        }
    }

    /// What a place that a server has given out proves: that the database went back, where its batch is not stored and no
    /// epoch has begun since.
    ///
    /// - Parameter place: the one whose number was looked up; `nil` where there is none, or it is not under the seal.
    package func proof(by place: Head?) -> EpochRaise.Condition? {
        guard let place, place.seq > 0, place.seq >= horizon, place.epoch >= head.epoch,
            !place.isOfHistory(holding: lineage)
        else { return nil }
        return .lost(place)
    }
}
