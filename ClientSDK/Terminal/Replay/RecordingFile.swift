import Foundation
import Tidemark
import TidemarkCommandLine

/// The lines of a recording, from any of its files.
enum RecordingFile {
    /// The most bytes of a report or a recording file.
    private static let bytesMax = 256 << 20

    private struct Report: Decodable {
        let recording: [String]?
    }

    /// - Throws: `CommandFailure`.
    static func lines(_ path: String) throws -> [String] {
        var path = path
        // For a database, the recording beside it.
        let beside = FlightRecorder.file(beside: path)
        if path.hasSuffix(".sqlite"), FileManager.default.fileExists(atPath: beside) { path = beside }
        guard let handle = FileHandle(forReadingAtPath: path) else { throw CommandFailure("cannot read \(path)") }
        defer { try? handle.close() }  // It was only read.
        guard let data = try handle.read(upToCount: bytesMax + 1), !data.isEmpty else {
            throw CommandFailure("\(path) is empty")
        }
        guard data.count <= bytesMax else { throw CommandFailure("\(path) is larger than any report") }
        // A report is one JSON object; a recording file is not.
        if let report = try? JSONDecoder().decode(Report.self, from: data) {
            guard let lines = report.recording, !lines.isEmpty else {
                throw CommandFailure(
                    "\(path) is a report without a recording: it was switched off, or nothing ever connected")
            }
            return lines
        }
        return Recording.lines(ofFile: [UInt8](data))
    }
}
