import Foundation
import Tidemark

extension World {
    /// Writes each device's recording into a folder, one file a device.
    ///
    /// - Returns: the files' path, with a star for the device; the reason if they cannot be written.
    func writeRecordings() -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-seed-\(plan.seed)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for device in devices {
                let file = folder.appending(path: "d\(device.number).flight")
                try Data(device.recorder.lines().joined(separator: "\n").utf8).write(to: file)
            }
            return folder.appending(path: "d*.flight").path
        } catch { return "(not written: \(error))" }
    }
}
