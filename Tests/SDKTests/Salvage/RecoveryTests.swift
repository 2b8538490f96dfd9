import Foundation
import Testing

@testable import Tidemark

/// The files of a recovery, in every state that a power cut or a damaged disk leaves.
@Suite struct RecoveryTests {
    private let file: FileDamage

    init() throws { file = try FileDamage() }

    private var mark: String { "\(file.path).recovering" }

    @Test(arguments: ["", "a name that is none\nwhy", "../other.corrupt-1\nwhy"])
    func `an unreadable note does not open an empty file silently`(_ words: String) throws {
        try file.fill { try $0.write(1, .note(1)) }
        // As an interrupted recovery leaves it: the damaged file is aside, and a new and empty one is in its path.
        let aside = "\(file.path).corrupt-7"
        try FileManager.default.moveItem(atPath: file.path, toPath: aside)
        try Data(words.utf8).write(to: URL(fileURLWithPath: mark))
        let error = #expect(throws: StoreError.self) { _ = try file.open() }
        #expect(error?.code == .corrupt)
        #expect(error?.description.contains(".recovering") == true, "\(error?.description ?? "")")
        #expect(FileManager.default.fileExists(atPath: aside), "nothing was removed")
        #expect(!FileManager.default.fileExists(atPath: file.path), "and nothing begun")
    }

    @Test func `a readable note continues the interrupted recovery`() throws {
        try file.fill { try $0.write(1, .note(1)) }
        let recovery = Recovery(path: file.path)
        let aside = try recovery.setAside("a test", now: 7)
        #expect(try recovery.begun() == "a test")
        #expect(!FileManager.default.fileExists(atPath: "\(mark)-new"))
        let (bench, notice) = try file.open()
        guard case .recovered(let told) = notice else { return #expect(Bool(false), "\(String(describing: notice))") }
        #expect(told.pending == 1 && told.damaged.path == aside)
        #expect(try bench.count("notes") == 1)
        #expect(try recovery.begun() == nil)
    }

    /// A log without a header, whose first frame no checksum covers.
    private func log(page: UInt32, commit: UInt32, pageSize: Int = 4_096) -> Data {
        var bytes = Data(repeating: 0, count: 32)
        for word in [page, commit, 1, 2, 3, 4] {
            bytes.append(contentsOf: withUnsafeBytes(of: word.bigEndian) { Array($0) })
        }
        return bytes + Data(repeating: 0xa5, count: pageSize)
    }

    @Test(
        arguments: [(1, UInt32.max), (UInt32.max, UInt32.max), (1, 1 << 20), (1 << 20, 1 << 20)] as [(UInt32, UInt32)])
    func `a log without a header makes no file larger than its own frames can`(_ page: UInt32, _ commit: UInt32) throws
    {
        let found = LogFile(log(page: page, commit: commit), pageSize: 4_096, fileBytes: 10 * 4_096)
        #expect(found.pageCount <= 12 && found.places.keys.allSatisfy { $0 <= 12 })
        try file.fill { try $0.write(1, .note(1)) }
        try log(page: page, commit: commit).write(to: URL(fileURLWithPath: "\(file.path)-wal"))
        let before = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        let copy = try RepairedCopy(of: file.path)
        let size = try FileManager.default.attributesOfItem(atPath: copy.path)[.size] as? Int
        #expect(try #require(size) <= #require(before) + 2 * 4_096)
        try copy.remove()
    }

    @Test func `the frames in a log without a header are still read`() {
        let found = LogFile(log(page: 11, commit: 11), pageSize: 4_096, fileBytes: 10 * 4_096)
        #expect(found.pageCount == 11 && found.places == [11: 56])
    }
}
