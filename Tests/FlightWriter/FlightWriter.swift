import Foundation
import GRDB
import Tidemark
import TidemarkTestKit

/// A device process that meets a fault and is killed, which leaves its recording:
///
///     FlightWriter FAULT SEED FOLDER
///
/// It prints the entry after which the fault began, and ends by SIGKILL.
@main enum FlightWriter {
    enum Fault: String, CaseIterable {
        case lostAnswer, stuckLink, fullDisk, damagedPage, clockJump, rewind, keyRotation
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let fault = Fault(rawValue: arguments[1]), let seed = UInt64(arguments[2]) else {
            return say("usage: FlightWriter \(Fault.allCases.map(\.rawValue).joined(separator: "|")) SEED FOLDER")
        }
        let desk = try await FlightDesk(seed: seed, in: URL(filePath: arguments[3]))
        for number in 0..<Int(1 + seed % 5) { try await desk.write("before \(number)") }
        try await desk.kit.settle()
        say("fault after \(desk.device.store.recorder.lines().count)")
        try await desk.meet(fault, isOdd: seed % 2 == 1)
        say("recorded \(desk.device.store.recorder.lines().count)")
        kill(getpid(), SIGKILL)
    }

    static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

struct Room: SyncModel {
    static let collection = "rooms"
    var id = UUID()
    var people: Set<String>
}

struct Note: SyncModel {
    static let collection = "notes"
    var id = UUID()
    var room: UUID
    var text: String?
}

/// The device, another one, and a room that both are members of.
struct FlightDesk {
    let kit: TestKit
    let device: TestClient
    let other: TestClient
    private let room: Room
    private let folder: URL

    init(seed: UInt64, in folder: URL) async throws {
        let text = """
            {"tidemark": 1, "name": "desk", "collections": {
              "rooms": {"scope": "self", "members": "people", "fields": {
                "people": {"type": "set", "required": true, "merge": "elements"}}},
              "notes": {"scope": "room", "fields": {
                "room": {"type": "reference", "required": true, "merge": "immutable", "to": "rooms"},
                "text": "string"}}
            }}
            """
        kit = try TestKit(schema: try Schema(json: Array(text.utf8)), seed: seed)
        self.folder = folder
        device = try await kit.client("ann", at: folder)
        other = try await kit.client("bob")
        room = Room(people: ["ann", "bob"])
        try await device.store.repository(Room.self).create(room)
        try await kit.settle()
    }

    func write(_ text: String, by client: TestClient? = nil) async throws {
        try await (client ?? device).store.repository(Note.self).create(Note(room: room.id, text: text))
    }

    func meet(_ fault: FlightWriter.Fault, isOdd: Bool) async throws {
        switch fault {
        case .lostAnswer:
            kit.faults.dropAck(after: isOdd ? .commit : .send, of: device)
            try await write("after")
            try await kit.settle()
        case .stuckLink:
            kit.faults.silence(device)
            if isOdd { try await write("after") }
            try await kit.settle()
        case .fullDisk:
            kit.faults.diskFull(device)
            try await write("after", by: other)
            await kit.advance(by: .seconds(90))
        case .damagedPage:
            try damage("before")
            try await write("after", by: other)
            await kit.advance(by: .seconds(120))
        case .clockJump:
            kit.faults.clockSkew(device, by: .seconds(isOdd ? 86_400 : -7_200))
            try await write("after")
            try await kit.settle()
        case .rewind:
            let backup = kit.backup()
            try await write("after")
            try await kit.settle()
            kit.faults.restoreServer(from: backup)
            try await kit.settle()
        case .keyRotation:
            kit.faults.refuseToken(of: device)
            device.goOffline()
            try await write("after")
            device.goOnline()
            await kit.advance(by: .seconds(180))
        }
    }

    /// Overwrites the pages that contain the text, unnoticed by the store, which reads them again after a commit that
    /// is not its own.
    private func damage(_ text: String) throws {
        let name = try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".sqlite") }
        let file = folder.appending(path: name ?? "")
        let queue = try DatabaseQueue(path: file.path)
        try queue.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
        var bytes = try Data(contentsOf: file)
        let pageBytes = 1_024
        let needle = Data(text.utf8)
        for start in stride(from: pageBytes, to: bytes.count, by: pageBytes) {
            let page = start..<min(start + pageBytes, bytes.count)
            if bytes.range(of: needle, in: page) != nil {
                bytes.replaceSubrange(page, with: Data(repeating: 0xa5, count: page.count))
            }
        }
        // In place: the store has the file open.
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: bytes)
        try handle.close()
        try queue.write { db in try db.execute(sql: "CREATE TABLE elsewhere (n)") }
        try queue.close()
    }
}
