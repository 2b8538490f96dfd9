import Foundation

/// The repository that this test was compiled from.
enum Repository {
    /// Folders and files that are made, not written. A name that ends with `*` stands for all that begin with it.
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
        // A folder that cannot be read shows as an empty one: the test that the repository is found fails then.
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
            // A file that is no UTF-8 is no text: the rules have nothing to say about it.
            guard let bytes = FileManager.default.contents(atPath: absolute),
                let text = String(bytes: bytes, encoding: .utf8)
            else { return [] }
            return [
                SourceFile(path: path, isExecutable: FileManager.default.isExecutableFile(atPath: absolute), text: text)
            ]
        }
    }

    /// A link leads to files that are read under their own paths.
    private static func isLink(_ path: String) -> Bool {
        // What is no link has no destination.
        (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
    }

    private static func isSkipped(_ name: String) -> Bool {
        skippedNames.contains { skipped in
            skipped.hasSuffix("*") ? name.hasPrefix(skipped.dropLast()) : name == skipped
        }
    }
}
