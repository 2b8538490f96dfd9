import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine

/// Files of messages: attached from the disk, listed, saved to the disk.
extension ChatRoom {
    /// The most files that are listed and can be saved.
    static let filesMax = 20

    /// An attachment of the conversation, with its sender.
    struct SharedFile: Sendable {
        let attachment: MessageAttachment
        let line: String
    }

    /// Sends a file with a message; both are stored on this device when this returns.
    ///
    /// - Throws: `CommandFailure` with a sentence for a file that cannot be sent.
    func attach(_ path: String, words: String) async throws {
        let url = URL(fileURLWithPath: (path as NSString).expandingTildeInPath)
        let bytesMax = BlobPolicy().maxBytes
        let bytes: Data
        do {
            let values = try url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            guard values.isRegularFile == true else { throw CommandFailure("\(path) is not a file") }
            guard let size = values.fileSize, size <= bytesMax else {
                throw CommandFailure(
                    "\(path) has \(ByteCount.text(values.fileSize ?? 0)); at most \(ByteCount.text(bytesMax)) are sent")
            }
            bytes = try Data(contentsOf: url)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure("cannot read \(path)")
        }
        let (kind, type) = Self.kind(of: url.pathExtension.lowercased())
        let attachment = MessageAttachment(kind, bytes: bytes, contentType: type, name: url.lastPathComponent)
        try await chat.messages.send(words, to: conversation, attachment: attachment, bytes: bytes)
    }

    /// Returns the newest files of the conversation, newest first.
    func files() async throws -> [SharedFile] {
        let (messages, names) = (
            try await chat.messages.newestPage(of: conversation, limit: ChatScreen.linesMax), try await names()
        )
        let files = messages.reversed().compactMap { message -> SharedFile? in
            guard let attachment = message.attachment else { return nil }
            let line = ChatLine(message, account: chat.store.account, names, in: zone)
            return SharedFile(
                attachment: attachment,
                line: "\(line.day) \(line.time) \(line.sender): \(ChatLine.label(of: attachment))")
        }
        return Array(files.prefix(Self.filesMax))
    }

    /// Returns them as lines for people, with the number for `/save`.
    func fileLines() async throws -> [String] {
        let files = try await files()
        return files.isEmpty ? ["No files here."] : files.enumerated().map { "\($0 + 1)  \($1.line)" }
    }

    /// Writes a file of the conversation to the disk, fetching it if needed; it never overwrites a file.
    ///
    /// - Parameters:
    ///   - number: the number in `fileLines()`.
    ///   - path: the new file, or a folder in which the file gets its own name.
    /// - Returns: a sentence with the path.
    /// - Throws: `CommandFailure` with a sentence.
    func save(_ number: Int, to path: String) async throws -> String {
        let files = try await files()
        guard files.indices.contains(number - 1) else { throw CommandFailure("there is no file \(number); see /files") }
        let attachment = files[number - 1].attachment
        let bytes: Data
        do {
            bytes = try await chat.messages.bytes(of: attachment, in: conversation)
        } catch let error as BlobError {
            throw CommandFailure(Self.sentence(error))
        } catch is ChatError {
            throw CommandFailure("its bytes are not on this server")
        }
        var url = URL(fileURLWithPath: (path as NSString).expandingTildeInPath)
        // A path that cannot be examined is not treated as a folder; writing reports the error.
        if (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true {
            url.append(path: Self.fileName(attachment))
        }
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw CommandFailure("there is a \(SafeText.line(url.path)) already")
        }
        do {
            try bytes.write(to: url, options: .withoutOverwriting)
        } catch {
            throw CommandFailure("cannot write \(SafeText.line(url.path))")
        }
        return "Saved \(ByteCount.text(bytes.count)) as \(SafeText.line(url.path))."
    }

    /// Returns the sender's file name as a safe name in a folder of ours: no other folder, and nothing hidden.
    static func fileName(_ attachment: MessageAttachment) -> String {
        let last = SafeText.line(attachment.name ?? "").split(separator: "/").last.map(String.init) ?? ""
        let shown = String(last.drop { $0 == "." })
        guard !shown.isEmpty else { return String(attachment.digest.filter(\.isHexDigit).prefix(12)) }
        guard shown.utf8.count > fileNameBytesMax else { return shown }
        // The extension shows the kind of file.
        let end = shown.lastIndex(of: ".").map { String(shown[$0...]) } ?? ""
        let kept = end.utf8.count <= 16 ? end : ""
        return shown.dropLast(kept.count).prefix(bytes: fileNameBytesMax - kept.utf8.count) + kept
    }

    /// The most bytes of a file name; file systems accept 255.
    private static let fileNameBytesMax = 200

    private static func sentence(_ error: BlobError) -> String {
        switch error.code {
        case .offline: "it is not on this device, and there is no connection"
        case .otherNetwork: "it is not on this device, and is not fetched over this network"
        case .notThere: "the server does not have it, or not yet: the sender's device sends it when it can"
        case .tooLarge: "it is too large"
        case .unavailable, .busy: "the server cannot send it at the moment"
        case .damaged: "the received bytes are damaged; they were discarded"
        case .unsupported: "the server keeps no files"
        }
    }

    private static func kind(of end: String) -> (MessageAttachment.Kind, String) {
        switch end {
        case "jpg", "jpeg": (.image, "image/jpeg")
        case "png", "gif", "webp", "heic": (.image, "image/\(end)")
        case "txt": (.file, "text/plain")
        case "pdf": (.file, "application/pdf")
        default: (.file, "application/octet-stream")
        }
    }
}

extension Substring {
    /// Returns the longest prefix of whole characters with at most that many bytes.
    fileprivate func prefix(bytes most: Int) -> String {
        var (kept, bytes) = ("", 0)
        for character in self {
            bytes += character.utf8.count
            guard bytes <= most else { break }
            kept.append(character)
        }
        return kept
    }
}
