/// Every setting and every limit as a page, made of the code that reads them.
package enum SettingTable {
    /// Markdown; deploy/settings.md is this.
    package static var markdown: String {
        let settings = Setting.allCases.map { setting in
            let option = setting.option.map { option in
                setting.row.valueName.map { "`\(option) \($0.uppercased())`" } ?? "`\(option)`"
            }
            let member = Setting.inFiles.contains(setting) ? "`\(setting.member)`" : "–"
            return [
                option ?? "–", "`\(setting.rawValue)`", member, escaped(setting.row.meaning),
                escaped(setting.row.usual ?? "–"),
            ]
        }
        let limits = LimitSetting.all.map { limit in
            [
                "`\(limit.name)`", "`\(limit.name.lowercased())`", escaped(limit.meaning), "\(limit.usual)",
                "\(limit.range.lowerBound)–\(limit.range.upperBound)",
            ]
        }
        return """
            # Settings

            Made by `tidemark settings`; a test holds this page against the code.

            *Commands*: not run by a test. One reads those of `tidemark` and `tide` by the programs' own parsers.

            An option overrides the environment, which overrides the file that `--config` names. An empty value is ignored.
            Commands other than `serve` and `doctor` read a database, a secret and an operator's token from the file that `TIDEMARK_CONFIG` names.
            The file is JSON. An unknown member is refused with its line, and paths in the file are relative to its folder:
            ```
            { "listen": "0.0.0.0:8080", "secret_file": "token_secret", "limits": { "rate": 200 } }
            ```

            \(table(["option", "environment", "file", "means", "usual"], settings))

            ## Limits

            `--limit NAME=VALUE`, the variable `\(LimitSetting.prefix)NAME`, or a member of `limits` in the file.

            \(table(["name", "file", "means, with its unit", "usual", "from–to"], limits))

            """
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }

    private static func escaped(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
