import Testing

let fileLinesMax = 500
let medianFileLinesMax = 120

let fileSize = Rule(name: "file size") { file in
    guard file.isSwift, file.lines.count > fileLinesMax else { return [] }
    return [
        file.finding(fileLinesMax, "the file has \(file.lines.count) lines; split it by idea (at most \(fileLinesMax))")
    ]
}

/// The five largest files, when the median size is too large.
func medianFindings(_ files: [SourceFile]) -> [Finding] {
    let bySize = files.sorted { $0.lines.count > $1.lines.count }
    guard let median = bySize.dropFirst(bySize.count / 2).first?.lines.count, median > medianFileLinesMax else {
        return []
    }
    return bySize.prefix(5).map {
        $0.finding(0, "the median file has \(median) lines, more than \(medianFileLinesMax); split this one first")
    }
}

@Suite struct FileSizeTests {
    @Test func `no Swift file is longer than 500 lines`() {
        expectNone(fileSize.findings(in: Repository.files))
    }

    @Test func `half of the product's files have at most 120 lines`() {
        expectNone(medianFindings(Repository.productFiles))
    }

    @Test func `a file of 501 lines is found, one of 500 is not`() {
        func file(_ lines: Int) -> SourceFile {
            SourceFile(path: "Server/A.swift", text: String(repeating: "let a = 1\n", count: lines))
        }
        #expect(fileSize.check(file(501)).map(\.line) == [501])
        #expect(fileSize.check(file(500)).isEmpty)
        #expect(medianFindings([file(121), file(10), file(121)]).count == 3)
        #expect(medianFindings([file(121), file(10), file(11)]).isEmpty)
    }
}
