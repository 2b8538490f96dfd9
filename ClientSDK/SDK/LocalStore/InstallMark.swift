import Foundation
import TidemarkModel

/// Tells this installation from one that its files were copied to.
///
/// A file beside the databases holds an id and its own place on the volume: a copy of the folder has another place, and a
/// copy of a database alone finds another id or none. It is kept out of backups, since a restored device is another one.
struct InstallMark {
    let folder: URL
    static let name = "tidemark.install"

    /// The installation's id, made when there is none that is its own.
    func id(orMake make: () -> UniqueID) throws -> UniqueID {
        var file = folder.appending(path: Self.name)
        if FileManager.default.fileExists(atPath: file.path) {
            let words = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: " ")
            if words.count == 2, let id = words.first.flatMap({ UniqueID(String($0)) }),
                let place = try place(of: file), words.last.map(String.init) == String(place)
            {
                return id
            }
            try FileManager.default.removeItem(at: file)
        }
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
        }
        let id = make()
        try Data("\(id) \(try place(of: file) ?? 0)".utf8).write(to: file)
        #if canImport(Darwin)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try file.setResourceValues(values)
        #else
        file.removeAllCachedResourceValues()
        #endif
        return id
    }

    private func place(of file: URL) throws -> UInt64? {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
    }
}
