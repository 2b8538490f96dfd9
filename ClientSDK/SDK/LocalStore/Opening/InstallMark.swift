import Foundation
import TidemarkModel

/// Distinguishes this installation from one that its files were copied to.
///
/// A file beside the databases holds an id and its own file number on the volume. In a copy of the folder the number
/// differs, and a copied database alone finds another id or none. The file is kept out of backups, since a restored
/// device is another installation.
struct InstallMark {
    let folder: URL
    static let name = "tidemark.install"

    /// Returns the installation's id, which is made when there is no valid one.
    func id(orMake make: () -> UniqueID) throws -> UniqueID {
        var file = folder.appending(path: Self.name)
        if FileManager.default.fileExists(atPath: file.path) {
            let words = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: " ")
            if words.count == 2, let id = words.first.flatMap({ UniqueID(String($0)) }),
                let number = try fileNumber(of: file), words.last.map(String.init) == String(number)
            {
                return id
            }
            try FileManager.default.removeItem(at: file)
        }
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
        }
        let id = make()
        try Data("\(id) \(try fileNumber(of: file) ?? 0)".utf8).write(to: file)
        #if canImport(Darwin)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try file.setResourceValues(values)
        #else
        file.removeAllCachedResourceValues()
        #endif
        return id
    }

    private func fileNumber(of file: URL) throws -> UInt64? {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
    }
}
