import Foundation
import Testing

@testable import TidemarkTerminal

/// Courses that a device process recorded before it was killed, replayed by another process.
@Suite(.timeLimit(.minutes(10))) struct FlightProcessTests {
    /// The faults of the device, and the replay's names for them.
    private static let faults = [
        "lostAnswer": "lost answer", "stuckLink": "silence", "fullDisk": "disk full", "damagedPage": "database",
        "clockJump": "clock", "rewind": "rewind", "keyRotation": "token",
    ]

    private static let seeds = max(1, ProcessInfo.processInfo.environment["FLIGHTS"].flatMap { UInt64($0) } ?? 2)

    private struct Course {
        let outcome: Binary.Outcome
        /// The last entry before the fault.
        let begin: Int
        let file: String
    }

    /// Runs a process that meets a fault, and returns its recording.
    private func record(_ fault: String, _ seed: UInt64, in folder: TemporaryFolder) async throws -> Course {
        let writer = try await Binary.run([fault, "\(seed)", folder.path], of: "FlightWriter")
        #expect(writer.status == 128 + SIGKILL, "\(writer.text)")
        let begin = writer.text.split(separator: "\n").first { $0.hasPrefix("fault after ") }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let file = try #require(names.first { $0.hasSuffix(".sqlite.flight") })
        return Course(
            outcome: writer, begin: try #require(begin.flatMap { Int($0.dropFirst("fault after ".count)) }),
            file: "\(folder.path)/\(file)")
    }

    /// Seven kinds of faults, each with so many seeds: `FLIGHTS`, or two.
    @Test(arguments: faults.keys.sorted())
    func `a fault that a killed device met is replayed elsewhere, and its entry is named`(
        _ fault: String
    ) async throws {
        let kind = try #require(Self.faults[fault])
        for seed in 1...Self.seeds {
            let folder = try TemporaryFolder("tidemark-flight")
            let course = try await record(fault, seed, in: folder)
            let replay = try await Binary.run(["replay", course.file], of: "tide")
            #expect(replay.status == 0, "\(replay.text)")
            #expect(replay.text.contains("the same course"), "\(replay.text)")
            let finding = replay.text.split(separator: "\n").first { $0.contains("  \(kind): ") }
            let entry = try #require(
                finding.flatMap { Int($0.drop { $0 == " " }.prefix { $0.isNumber }) },
                "seed \(seed) names no \(kind): \(replay.text)")
            #expect(entry > course.begin, "seed \(seed): \(replay.text)")
            #expect(!replay.text.contains("torn"), "\(replay.text)")
        }
    }

    @Test func `a changed secret is found at the first entry`() async throws {
        let folder = try TemporaryFolder("tidemark-flight")
        let course = try await record("keyRotation", 1, in: folder)
        let text = try await Binary.run(["replay", course.file], of: "tide").text
        let verdict = try #require(text.split(separator: "\n").first { $0.hasPrefix("stands") })
        #expect(verdict.contains("unauthenticated") && verdict.contains("token"), "\(text)")
    }

    @Test func `a course is explained, cut, and printed as a test`() async throws {
        let folder = try TemporaryFolder("tidemark-flight")
        let course = try await record("lostAnswer", 3, in: folder)
        let explained = try await Binary.run(["replay", course.file, "--explain"], of: "tide").text
        #expect(explained.contains("the app wants a connection") && explained.contains("-> connect"))
        let cut = try await Binary.run(["replay", course.file, "--until", "\(course.begin)"], of: "tide")
        #expect(cut.status == 0 && !cut.text.contains("lost answer:"), "\(cut.text)")
        let test = try await Binary.run(["replay", course.file, "--test"], of: "tide").text
        #expect(test.contains("@Suite struct RecordedCourseTests") && test.contains("replay.isSame"))
        let none = try await Binary.run(["replay", "\(folder.path)/nothing"], of: "tide")
        #expect(none.status == 1 && none.text.contains("cannot read"))
    }

    @Test func `a device killed in the middle of its work leaves an intact recording`() async throws {
        let server = try await LiveServer.start()
        var storm = try await Storm(on: server)
        for lines in [20, 90, 40] { try await storm.kill(afterLines: lines) }
        let names = try FileManager.default.contentsOfDirectory(atPath: storm.folder.path)
        let file = "\(storm.folder.path)/\(try #require(names.first { $0.hasSuffix(".flight") }))"
        let replay = try await Binary.run(["replay", file], of: "tide")
        #expect(replay.status == 0 && replay.text.contains("the same course"), "\(replay.text)")
        #expect(replay.text.contains("3 engines"), "\(replay.text)")
    }
}
