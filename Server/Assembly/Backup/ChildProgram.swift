import Foundation
import TidemarkOperations

/// Runs a program of PostgreSQL to its end. It stays in this program's process group, so that Ctrl-C ends both.
enum ChildProgram {
    /// The end of a program.
    struct Outcome: Sendable {
        /// The exit status, or 128 plus the signal's number.
        var status: Int32
        /// The end of the standard error's text.
        var errors: String
    }

    /// The bytes of standard error that are kept.
    private static let errorBytesMax = 4_096

    /// Blocks until the program has ended.
    ///
    /// - Parameters:
    ///   - environment: added to this process's own. Secrets belong here: any user can read arguments.
    ///   - output: receives standard output piece by piece; an error that it throws ends the program.
    /// - Throws: `BackupError` when the program cannot be started; any error of `output`.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        output: (UnsafeRawBufferPointer) throws -> Void = { _ in }
    ) throws -> Outcome {
        guard let errors = tmpfile() else {
            throw BackupError(.failed, "no temporary file can be made: \(String(cString: strerror(errno)))")
        }
        defer { fclose(errors) }
        _ = fcntl(fileno(errors), F_SETFD, FD_CLOEXEC)
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw BackupError(.failed, "no pipe can be made: \(String(cString: strerror(errno)))")
        }
        let (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(reading) }
        let child: pid_t
        do {
            defer { close(writing) }
            let started = ChildStart.spawn(program, arguments, environment, output: writing, errors: fileno(errors))
            child = try started.mapError { error in
                BackupError(.failed, "\(program) cannot be started: \(String(cString: strerror(error.code.rawValue)))")
            }.get()
        }
        do {
            try drain(reading, output)
        } catch {
            kill(child, SIGTERM)
            _ = wait(for: child)
            throw error
        }
        let status = wait(for: child)
        return Outcome(status: status, errors: end(of: errors))
    }

    private static func drain(_ descriptor: Int32, _ output: (UnsafeRawBufferPointer) throws -> Void) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            try buffer.withUnsafeBytes { try output(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    private static func wait(for child: pid_t) -> Int32 {
        var raw: Int32 = 0
        while waitpid(child, &raw, 0) < 0, errno == EINTR {}
        return raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f)
    }

    private static func end(of file: UnsafeMutablePointer<FILE>) -> String {
        let size = lseek(fileno(file), 0, SEEK_END)
        guard lseek(fileno(file), max(0, size - off_t(errorBytesMax)), SEEK_SET) >= 0 else { return "" }
        var buffer = [UInt8](repeating: 0, count: errorBytesMax)
        let count = read(fileno(file), &buffer, buffer.count)
        let lines = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.joined(separator: "; ")
    }
}
