/// A rule that the repository's own text keeps.
struct Rule: Sendable {
    /// The key of its entries in `Allowance.all`.
    let name: String
    let check: @Sendable (SourceFile) -> [Finding]

    /// The findings in these files, except for those that an entry of the table allows.
    func findings(in files: [SourceFile], allowances: [Allowance] = Allowance.all) -> [Finding] {
        files.flatMap { file in
            allowances.contains { $0.covers(file, of: self) } ? [] : check(file)
        }
    }
}
