import TidemarkModel
package import TidemarkStore
package import TidemarkWire

extension Page {
    /// Encodes the answer to `request`.
    package func answer(to request: PageRequest) -> [UInt8] {
        var rows = JSONWriter(capacity: records.count * 320)
        for (index, record) in records.enumerated() {
            if index > 0 { rows.byte(UInt8(ascii: ",")) }
            RowCoding.write(record, to: &rows)
        }
        let next = request.ids == nil ? records.last?.born : Int64(answered)
        return PageAnswer.splice(request, rows: rows.bytes, next: isLast ? nil : next)
    }
}
