import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import TidemarkTerminal

/// A client process that writes as fast as it can into one conversation, and is killed and started again.
struct Storm {
    let server: LiveServer
    let conversation: LocalID
    let folder: TemporaryFolder
    /// Further arguments of `StormWriter`.
    private let words: [String]
    private let schema: String
    private let token: String
    /// The last number that a process reported as durable.
    private(set) var durable: Int64 = 0

    init(on server: LiveServer, _ words: String...) async throws {
        self.server = server
        self.words = words
        conversation = LoadTarget.newClient()
        let (opening, _) = try await RawClient(server, user: "ann").connect(1, isNew: true)
        try await opening.push(Push(first: 1, ackedThrough: 0, entries: [.init(.opening(conversation, ["ann"]))]))
        _ = try await opening.settled(through: 1)
        folder = try TemporaryFolder("tidemark-storm")
        schema =
            URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../ClientSDK/ChatSchema/chat.schema.json").standardizedFileURL.path
        token = try server.token("ann")
    }

    private func start(last: Int64) throws -> ChildProcess {
        try ChildProcess(
            try Binary.path(of: "StormWriter"),
            ["http://\(server.address)", token, folder.path, schema, conversation.description, "\(last)"] + words)
    }

    /// Lets a process write and kills it after so many further lines, counted from the first one.
    mutating func kill(afterLines lines: Int) async throws {
        let child = try start(last: .max)
        var left = lines
        for await line in child.lines {
            let number = try #require(line.split(separator: " ").last.flatMap { Int64($0) }, "\(line)")
            #expect(number >= durable, "what was durable is gone: \(line) after \(durable)")
            durable = max(durable, number)
            left -= 1
            if left < 0 { break }
        }
        child.signal(SIGKILL)
        #expect(await child.ended() == 128 + SIGKILL)
    }

    /// Lets a process write `count` more and send everything; returns the last number.
    func finish(after count: Int64) async throws -> Int64 {
        let last = durable + count
        let child = try start(last: last)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        #expect(await child.ended() == 0)
        #expect(lines.last == "done \(last) parked 0")
        return last
    }
}
