/// The release that this source becomes. Its number is only here; programs, files of a release and `welcome` read it.
package enum Release {
    /// The number by semantic versioning; `deploy/CHANGELOG.md` says what may change before 1.0.
    package static let number = "0.1.0"
}
