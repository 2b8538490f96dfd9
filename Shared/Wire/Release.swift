/// The release that this source becomes: the one place of its number. Programs, files of a release and `welcome` read it here.
package enum Release {
    /// Counted by semantic versioning; `deploy/CHANGELOG.md` says what may change before 1.0.
    package static let number = "0.1.0"
}
