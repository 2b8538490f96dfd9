import TidemarkWire

/// What `--version` says; apps and servers of different versions agree by the protocol's version.
package enum ProgramVersion {
    /// Of both programs.
    package static let number = "0.1.0"

    /// One line.
    ///
    /// - Parameter program: its name on the command line.
    package static func text(of program: String) -> String {
        "\(program) \(number), protocol version \(WireVersion.current)"
    }
}
