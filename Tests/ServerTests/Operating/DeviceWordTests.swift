import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkNode

/// The messages between servers about devices.
@Suite struct DeviceWordTests {
    private static let workspace = WorkspaceID("w")

    private static func sight(_ id: ClientID, reason: String) -> DeviceSight {
        var sight = DeviceSight()
        sight.connection = .init(since: .max, position: .max, pending: .max, isSlow: true, diverged: 1_000_000)
        sight.latest = SeenClient(id, at: .max, written: .max, position: .max)
        sight.endings = (0..<5).map { .init(time: .max - $0, code: .max, reason: reason, diverged: 4) }
        return sight
    }

    @Test func `a question and its answer arrive as they were sent`() throws {
        let ids = [Sample.id(1), Sample.id(2)]
        let sent = DeviceWord(.question(ids), in: Self.workspace, asker: .max, number: 7)
        let question = try #require(DeviceWord(sent.line))
        guard case .question(let asked) = question.content else { throw Other() }
        #expect(asked == ids && question.asker == .max && question.number == 7 && question.workspace == Self.workspace)

        var known = [ids[0]: Self.sight(ids[0], reason: "it \"left\"")]
        known[ids[1]] = DeviceSight()
        known[ids[1]]?.endings = [.init(time: 5, code: nil, reason: "lost")]
        let line = DeviceWord(.answer(known, from: 3), in: Self.workspace, asker: 9, number: 7).line
        let answer = try #require(DeviceWord(line))
        guard case .answer(let read, let node) = answer.content else { throw Other() }
        #expect(read == known && node == 3 && answer.asker == 9)
    }

    @Test func `an answer fits into a notification, whatever it contains`() throws {
        let ids = (1...UInt64(DeviceWord.devicesMax)).map(Sample.id)
        let known = Dictionary(
            uniqueKeysWithValues: ids.map { ($0, Self.sight($0, reason: String(repeating: "\u{1}", count: 200))) })
        let line = DeviceWord(
            .answer(known, from: .max), in: WorkspaceID(String(repeating: "\"", count: 128)), asker: .max, number: .max
        ).line
        #expect(line.utf8.count <= 7_000)
        guard case .answer(let read, _)? = DeviceWord(line)?.content else { throw Other() }
        #expect(Set(read.keys) == Set(ids) && read.values.allSatisfy { $0.connection?.position == .max })
        let question = DeviceWord(
            .question(ids), in: WorkspaceID(String(repeating: "\"", count: 128)), asker: .max, number: .max)
        #expect(question.line.utf8.count <= 7_000)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"w":"w","ask_of":["x"],"by":"-1","no":1}"#, #"{"w":"w","know":[],"to":"1","no":1}"#,
        #"{"w":"w","know":[{"c":1}],"to":"1","no":1,"from":"2"}"#, #"{"w":"","ask_of":[],"by":"1","no":1}"#,
        #"{"rev":7}"#,
    ])
    func `an invalid message is ignored`(_ line: String) { #expect(DeviceWord(line) == nil) }

    @Test func `unknown members and impossible numbers do no harm`() throws {
        let line =
            #"{"w":"w","x":{},"know":[{"c":"\#(Sample.id(1))","on":[1],"ended":[[1,99999,"far"],[1]],"z":1}],"to":"1","no":-1,"from":"2"}"#
        guard case .answer(let read, let node)? = DeviceWord(line)?.content else { throw Other() }
        #expect(node == 2 && read[Sample.id(1)]?.connection == nil)
        #expect(read[Sample.id(1)]?.endings == [.init(time: 1, code: nil, reason: "far")])
    }

    @Test func `of two servers that claim a device the one with the later connection is right`() {
        let id = Sample.id(1)
        var (one, other) = (DeviceSight(), DeviceSight())
        one.connection = .init(since: 10, position: 1, pending: 0, isSlow: true)
        one.latest = SeenClient(id, at: 20, written: 3, position: 1)
        other.connection = .init(since: 11, position: 5, pending: 0, isSlow: false)
        other.latest = SeenClient(id, at: 15, app: "chat/2", written: 2, position: 5)
        var (left, right) = (one, other)
        left.merge(other)
        right.merge(one)
        #expect(left.connection == other.connection && right.connection == other.connection)
        let expected = SeenClient(id, at: 20, app: "chat/2", written: 3, position: 1)
        #expect(left.latest == expected && right.latest == expected)
    }

    private struct Other: Error {}
}
