import ArgumentParser
import Foundation
import Tidemark
import TidemarkCommandLine

/// `tide replay`: repeats what happened on a device.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replay a device's recording: find where it is stuck, and what must never happen.",
        discussion: """
            Reads a report of 'exportReport()', or the recording beside a device's database (NAME.sqlite.flight), and \
            sends the recorded events to the same machine. It reports whether each effect matches the recorded one, what \
            went wrong at which entry, and the state at the end. A recording contains no values of records.

            EXAMPLES
              tide replay report.json
              tide replay ann-1f2e.sqlite.flight --explain
              tide replay report.json --until 640 --explain
              tide replay report.json --test > CourseTests.swift

            Exit status: 0 the replay matches, 1 it differs, or there is no recording.
            """)

    @Argument(help: "A report, a recording, or a database with a recording beside it.")
    var file: String

    @Option(help: ArgumentHelp("Stop after this entry.", valueName: "entry"))
    var until: Int?

    @Flag(help: "Print each step: what happened, and what the machine requested.")
    var explain = false

    @Flag(help: "Print a test that replays the recording.")
    var test = false

    func validate() throws {
        guard until ?? 1 > 0 else { throw ValidationError("--until is the number of an entry, from 1.") }
        guard !test || !explain else { throw ValidationError("--test goes without --explain.") }
    }

    func run() throws {
        let lines = try RecordingFile.lines(file)
        let recording: Recording
        do { recording = try Recording(lines: lines) } catch let error as MalformedRecording {
            throw CommandFailure("\(file) has no recording: \(error)")
        }
        let replay = FlightReplay(recording, until: until)
        let judge = FlightJudge(replay)
        if test { return print(ReplayTest.text(lines: lines, until: until, replay, judge)) }
        if explain { print(ReplayText.steps(replay)) }
        print(ReplayText.overview(recording, replay, judge))
        guard replay.isSame else { throw ExitCode.failure }
    }
}
