import TidemarkModel
import TidemarkStore

/// The samples of a log that show which numbers enough standbys have. A number is safe once they have the log up to a
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
            // The order went back: numbers after its end may be issued again.
            if let last = waiting.last?.head ?? safe, last.seq > head.seq { self = Course() }
            // Of several positions for one head, the first that was read is the least.
            if head != waiting.last?.head ?? safe { waiting.append(Sample(head: head, written: written)) }
            if waiting.count > ReplicaSamples.waitingMax, let least = leastMissed { waiting.remove(at: least) }
            guard let confirmed else { return }
            while let first = waiting.first, first.written <= confirmed {
                safe = first.head
                waiting.removeFirst()
            }
        }

        /// The sample whose removal leaves the narrowest gap.
        private var leastMissed: Int? {
            (1..<max(1, waiting.count - 1)).min { gap($0) < gap($1) }
        }

        private func gap(_ index: Int) -> Int64 { waiting[index + 1].written - waiting[index - 1].written }
    }

    /// The greatest number of remembered heads of one order; excess ones are thinned out.
    static let waitingMax = 64
    private var log: String?
    private var courses: [WorkspaceID: Course] = [:]

    /// Merges a report; workspaces that are not in it are forgotten.
    mutating func take(_ report: ReplicaReport) {
        // Another cluster, or another life of it: its positions are not comparable.
        if report.log != log { (log, courses) = (report.log, [:]) }
        courses = courses.filter { report.heads[$0.key] != nil }
        for (workspace, head) in report.heads {
            courses[workspace, default: Course()].take(head, written: report.written, confirmed: report.confirmed)
        }
    }

    /// Returns the last number of an order that is known to be safe; 0 if none is.
    func through(_ head: Head, in workspace: WorkspaceID) -> SequenceNumber {
        // An answer for another epoch is useless: its numbers may belong to other changes.
        guard let safe = courses[workspace]?.safe, safe.epoch == head.epoch, safe.seq <= head.seq else { return 0 }
        return safe.seq
    }

    /// Returns the number of heads of an order that wait.
    func waiting(in workspace: WorkspaceID) -> Int { courses[workspace]?.waiting.count ?? 0 }
}
