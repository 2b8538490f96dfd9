import TidemarkModel
import TidemarkStore

/// What is remembered of a log to tell which numbers enough standbys have: a number is safe once they have the log up to a
/// position that was read after the number was committed. Pure.
struct ReplicaSamples {
    /// Ends of an order that wait for the standbys, each with a position behind it; the oldest first.
    private struct Course {
        struct Sample {
            var head: Head
            var written: Int64
        }

        var waiting: [Sample] = []
        var safe: Head?

        mutating func take(_ head: Head, written: Int64, confirmed: Int64?) {
            // The order went back: what stood behind its end may be given again.
            if let last = waiting.last?.head ?? safe, last.seq > head.seq { self = Course() }
            // The position that was read first is the least.
            if head != waiting.last?.head ?? safe { waiting.append(Sample(head: head, written: written)) }
            if waiting.count > ReplicaSamples.waitingMax, let least = leastMissed { waiting.remove(at: least) }
            guard let confirmed else { return }
            while let first = waiting.first, first.written <= confirmed {
                safe = first.head
                waiting.removeFirst()
            }
        }

        /// The one without which the widest gap is narrowest.
        private var leastMissed: Int? {
            (1..<max(1, waiting.count - 1)).min { gap($0) < gap($1) }
        }

        private func gap(_ index: Int) -> Int64 { waiting[index + 1].written - waiting[index - 1].written }
    }

    /// Ends of one order that are remembered; more of them are thinned out.
    static let waitingMax = 64
    private var log: String?
    private var courses: [WorkspaceID: Course] = [:]

    /// Takes a report over; workspaces that it does not have are forgotten.
    mutating func take(_ report: ReplicaReport) {
        // Another cluster, or another life of it: its positions are others.
        if report.log != log { (log, courses) = (report.log, [:]) }
        courses = courses.filter { report.heads[$0.key] != nil }
        for (workspace, head) in report.heads {
            courses[workspace, default: Course()].take(head, written: report.written, confirmed: report.confirmed)
        }
    }

    /// The last number of an order that is known to be safe; 0 where none is.
    func through(_ head: Head, in workspace: WorkspaceID) -> SequenceNumber {
        // Of another epoch nothing is known: its numbers may be others'.
        guard let safe = courses[workspace]?.safe, safe.epoch == head.epoch, safe.seq <= head.seq else { return 0 }
        return safe.seq
    }

    /// How many ends of an order wait.
    func waiting(in workspace: WorkspaceID) -> Int { courses[workspace]?.waiting.count ?? 0 }
}
