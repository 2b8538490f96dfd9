import Foundation
import TidemarkExtension

/// An app's extension to be killed. It leaves numbered writes in a shared folder as fast as it can, and reports after
/// each that it is durable. Each write creates an entry and counts it in its box, so that a second adoption is visible.
///
///     SpoolWriter FOLDER BOX FIRST
@main enum SpoolWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let id = UUID(uuidString: arguments[2]), var number = Int64(arguments[3]) else {
            return say("usage: SpoolWriter FOLDER BOX FIRST")
        }
        let shared = SharedFolder(URL(filePath: arguments[1]))
        let box = SpoolBox(id: id, count: 0)
        while true {
            do {
                try shared.write { batch in
                    batch.create(SpoolEntry(box: box.id, number: number))
                    batch.update(SpoolBox(id: box.id, count: 1), from: box)
                }
            } catch let error as SharingError where error.code == .full {
                // The app was killed, too, and is not running yet.
                say("full")
                continue
            }
            say("spooled \(number)")
            number += 1
        }
    }

    /// Prints one line at once: a kill may follow.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

struct SpoolBox: RecordModel {
    static let collection = "boxes"
    var id: UUID
    var count: Int64
}

struct SpoolEntry: RecordModel {
    static let collection = "entries"
    var id = UUID()
    var box: UUID
    var number: Int64
}
