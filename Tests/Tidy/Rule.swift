/// One thing that the repository promises about its own text.
struct Rule: Sendable {
    /// The key of its entries in `Allowance.all`.
    let name: String
    let check: @Sendable (SourceFile) -> [Finding]

    /// What is wrong in these files and not allowed by an entry of the table.
    func findings(in files: [SourceFile], allowances: [Allowance] = Allowance.all) -> [Finding] {
        files.flatMap { file in
            allowances.contains { $0.covers(file, of: self) } ? [] : check(file)
        }
    }
}
