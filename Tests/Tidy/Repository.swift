import Foundation

/// The repository that this test was compiled from.
enum Repository {
    /// Generated folders and files. A name that ends with `*` means all names that begin with it.
    private static let skippedNames = [
        ".build*", ".git", ".swiftpm", "Package.resolved", "tidemark-data", "nightly", "secrets", ".DS_Store",
        "LICENSE",
    ]

    /// The folder that holds `Package.swift`: this file lies at `Tests/Tidy/Repository.swift`.
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every text file, read once, in the order of their paths.
    static let files: [SourceFile] = load("")

    static let swiftFiles = files.filter(\.isSwift)

    /// The Swift files that ship: everything but the tests and the manifest.
    static let productFiles = swiftFiles.filter { $0.lies(in: Layout.productFolders) }

    /// Whether a path, relative to the root, leads to a file or folder.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(
            atPath: root.appending(path: path).standardizedFileURL.path(percentEncoded: false))
    }

    private static func load(_ folder: String) -> [SourceFile] {
        // A folder that cannot be read looks empty: then the test that finds the repository fails.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
        return names.sorted().flatMap { name -> [SourceFile] in
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            let absolute = root.appending(path: path).path
            var isFolder: ObjCBool = false
            guard !isSkipped(name), !isLink(absolute),
                FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder)
            else { return [] }
            if isFolder.boolValue {
                return load(path)
            }
            // A file that is not UTF-8 is not text: the rules ignore it.
            guard let bytes = FileManager.default.contents(atPath: absolute),
                let text = String(bytes: bytes, encoding: .utf8)
            else { return [] }
            return [
                SourceFile(path: path, isExecutable: FileManager.default.isExecutableFile(atPath: absolute), text: text)
            ]
        }
    }

    /// True for a link. The files behind it are read under their own paths.
    private static func isLink(_ path: String) -> Bool {
        // The call throws for everything but a link.
        (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
    }

    private static func isSkipped(_ name: String) -> Bool {
        skippedNames.contains { skipped in
            skipped.hasSuffix("*") ? name.hasPrefix(skipped.dropLast()) : name == skipped
        }
    }
}
