/// Real chat that is built into the program: five days of #ubuntu, 1,950 events.
///
/// From the public #ubuntu IRC logs as published with "A Large-Scale Corpus for Conversation Disentanglement"
/// (Kummerfeld et al., 2019), data licence CC-BY-4.0. Shortened: long lines and lines with addresses or coarse words were
/// left out. A line is `HH:MM`, `=` for a message, `+` for a join or `-` for a leave, the nick, and the text.
enum ChatSlice {
    /// The days in order.
    static let days: [(day: String, events: String)] = [
        ("2004-12-25", day20041225),
        ("2005-02-06", day20050206),
        ("2005-02-08", day20050208),
        ("2005-02-27", day20050227),
        ("2005-05-14", day20050514),
    ]
}
