import TidemarkWire

/// The answer to `--version`; apps and servers of different releases agree by the protocol's version.
package enum ProgramVersion {
    /// The number of both programs.
    package static let number = Release.number

    /// Returns one line with the program's version.
    ///
    /// - Parameter program: its name on the command line.
    package static func text(of program: String) -> String {
        "\(program) \(number), protocol version \(WireVersion.current)"
    }
}
