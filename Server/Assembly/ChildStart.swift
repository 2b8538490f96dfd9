package import Foundation

/// Starts programs, which stay in this program's process group, so that Ctrl-C ends all of them.
package enum ChildStart {
    /// Starts a program with an empty standard input.
    ///
    /// - Parameters:
    ///   - arguments: its arguments without the program's name.
    ///   - environment: added to this process's own.
    ///   - output: the file of its standard output.
    ///   - errors: the file of its standard error.
    /// - Returns: its process, or the system's error if it could not be started.
    package static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String: String], output: Int32, errors: Int32
    ) -> Result<pid_t, POSIXError> {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        let merged = ProcessInfo.processInfo.environment.merging(environment) { _, ours in ours }
        var argv = ([program] + arguments).map { strdup($0) } + [nil]
        var envp = merged.map { strdup("\($0)=\($1)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, program, &actions, nil, &argv, &envp)
        return code == 0 ? .success(child) : .failure(POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO))
    }
}
