import Testing

@Suite struct RepositoryTests {
    @Test func `the repository is found and read`() {
        let paths = Set(Repository.files.map(\.path))
        #expect(paths.isSuperset(of: ["Package.swift", "README.md", ".ci/run", "Tests/Tidy/RepositoryTests.swift"]))
        #expect(Repository.productFiles.count > 20)
        #expect(Repository.exists("Tests/Tidy") && !Repository.exists("Tests/Untidy"))
    }

    @Test func `the top level is the package, its three parts, tests, deployment and a page`() {
        let names = Set(Repository.files.compactMap { $0.path.split(separator: "/").first.map(String.init) })
        let parts: Set = ["Package.swift", "Server", "ClientSDK", "Shared", "Tests", "deploy", "README.md"]
        // The other names begin with a dot.
        #expect(names.filter { !$0.hasPrefix(".") } == parts)
    }

    @Test func `the system's libraries are asked for wherever the package is built`() throws {
        for path in ["deploy/Dockerfile", "deploy/lib/packages.sh"] {
            let file = try #require(Repository.files.first { $0.path == path })
            for library in ["libpq-dev", "libsqlite3-dev"] {
                #expect(file.lines.contains { $0.contains(library) }, "\(path): \(library)")
            }
        }
        let manifest = try #require(Repository.files.first { $0.path == "Package.swift" })
        for library in ["libpq-dev", "libsqlite3-dev"] {
            #expect(manifest.lines.contains { $0.contains(".apt([\"\(library)\"])") })
        }
    }

    @Test func `slow checks are run by one command, which a workflow calls each night`() throws {
        func text(_ path: String) throws -> String {
            try #require(Repository.files.first { $0.path == path }).lines.joined(separator: "\n")
        }
        let nightly = try text("deploy/nightly.sh")
        for slow in [
            "deploy/coverage.sh", "Tests/Benchmarks/link.sh", "deploy/release.sh", "deploy/container-check.sh",
            "Tests/Benchmarks/failover.sh", "deploy/floor.sh --server", "bench local --strict",
            "bench scopes --scopes 2000 --strict", "bench scopes --scopes 10000 --strict",
        ] { #expect(nightly.contains(slow), "\(slow)") }
        #expect(try text("deploy/release.sh").contains("deploy/release-check.sh"))
        let workflow = try text(".github/workflows/nightly.yml")
        #expect(workflow.contains("run: deploy/nightly.sh") && workflow.contains("upload-artifact"))
    }

    @Test func `the gate compiles for the oldest systems and without PostgreSQL, and checks the chart`() throws {
        let gate = try #require(Repository.files.first { $0.path == "deploy/test.sh" })
        let whole = gate.lines.drop { $0 != "check_everything() {" }.prefix { $0 != "}" }.map(\.trimmed)
        for call in ["lint", "build", "begin_other_systems", "run_all_tests", "await_other_systems", "measure_client"] {
            #expect(whole.contains { $0 == call }, "\(call)")
        }
        let commands = gate.lines.filter { !$0.trimmed.hasPrefix("#") }
        for call in ["check_floor", "check_without_postgres", "check_apple_branches", "chart.sh --check"] {
            #expect(commands.contains { $0.contains(call) }, "\(call)")
        }
    }

    @Test func `the manifest excludes each page beside code, since a build would warn of it`() throws {
        let manifest = try #require(Repository.files.first { $0.path == "Package.swift" }).lines.joined(separator: "\n")
        let folders = manifest.matches(of: /path: "((?:Shared|Server|ClientSDK)\/[^"]+)"/).map { "\($0.1)/" }
        #expect(folders.count > 20)
        for file in Repository.files where file.path.hasSuffix(".md") && !file.path.contains(".docc/") {
            guard let folder = folders.first(where: { file.path.hasPrefix($0) }) else { continue }
            #expect(manifest.contains("\"\(file.path.dropFirst(folder.count))\""), "\(file.path)")
        }
    }

    @Test func `an allowance exempts its own file from its own rule, and nothing else`() {
        let rule = Rule(name: "size") { [$0.finding(0, "too large")] }
        let files = ["Server/A.swift", "Server/B.swift"].map { SourceFile(path: $0, text: "") }
        func paths(_ allowances: [Allowance]) -> [String] {
            rule.findings(in: files, allowances: allowances).map(\.path)
        }
        #expect(paths([]) == ["Server/A.swift", "Server/B.swift"])
        #expect(paths([Allowance(rule: "size", path: "Server/A.swift", reason: "generated")]) == ["Server/B.swift"])
        #expect(paths([Allowance(rule: "calls", path: "Server/A.swift", reason: "generated")]).count == 2)
    }

    @Test func `every prefix of the layout is the beginning of a file's path`() {
        #expect(Layout.prefixes.count > 20)
        for (table, prefix) in Layout.prefixes {
            #expect(Repository.files.contains { $0.path.hasPrefix(prefix) }, "Layout.\(table): '\(prefix)'")
        }
    }

    @Test func `every allowance has a reason and is still needed`() {
        let witnesses = requirementNames(Repository.productFiles)
        let rules = [
            fileSize, functionLength, pathNames, typeNames, publicNames, calls, unstructuredTasks, purity,
            timeLimits, outsideImports, reasons, unfinished, links, docOpenings, places, scripts,
            documentation(witnesses: witnesses),
        ]
        for allowance in Allowance.all {
            let file = Repository.files.first { $0.path == allowance.path }
            let rule = rules.first { $0.name == allowance.rule }
            let found = file.flatMap { rule?.check($0) } ?? []
            #expect(!allowance.reason.isEmpty && !found.isEmpty, "remove '\(allowance.rule)' for \(allowance.path)")
        }
    }
}
