import Testing

private let strictMode = "set -euo pipefail"
private let shebang = "#!/usr/bin/env bash"

let scripts = Rule(name: "scripts") { file in
    guard file.isScript else { return [] }
    var findings: [Finding] = []
    let first = file.lines.firstIndex { !$0.trimmed.isEmpty && !$0.hasPrefix("#") } ?? 0
    if file.lines.isEmpty || file.lines[first] != strictMode {
        findings.append(
            file.finding(first, "the first command is not '\(strictMode)'; a failed line would go unnoticed"))
    }
    // A sourced file is not a program: it has no shebang and is not executable.
    let isSourced = file.path.hasPrefix("deploy/lib/")
    if !isSourced, file.lines.first != shebang {
        findings.append(file.finding(0, "the first line is not '\(shebang)'"))
    }
    if file.isExecutable == isSourced {
        findings.append(file.finding(0, isSourced ? "it is sourced; chmod -x" : "it cannot be run; chmod +x"))
    }
    return findings
}

@Suite struct ScriptsTests {
    @Test func `every script stops at its first failed line and can be run`() {
        expectNone(scripts.findings(in: Repository.files))
    }

    @Test func `a script that goes on after a failure is found`() {
        let good = "#!/usr/bin/env bash\n# Says what.\nset -euo pipefail\necho 1\n"
        let loose = "#!/usr/bin/env bash\necho 1\nset -euo pipefail\n"
        #expect(scripts.check(SourceFile(path: "deploy/a.sh", isExecutable: true, text: good)).isEmpty)
        #expect(scripts.check(SourceFile(path: "deploy/a.sh", isExecutable: false, text: good)).count == 1)
        #expect(scripts.check(SourceFile(path: "deploy/a.sh", isExecutable: true, text: loose)).map(\.line) == [2])
        #expect(scripts.check(SourceFile(path: ".ci/run", isExecutable: true, text: "#!/bin/sh\n")).count == 2)
        #expect(scripts.check(SourceFile(path: "deploy/lib/a.sh", text: "# Sourced.\nset -euo pipefail\n")).isEmpty)
    }
}
