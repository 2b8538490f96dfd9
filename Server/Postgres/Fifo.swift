/// A queue over an array: appending and taking are O(1) on average, removing from the middle O(n).
struct Fifo<Element> {
    private var storage: [Element?] = []
    private var head = 0

    var count: Int { storage.count - head }
    var isEmpty: Bool { head == storage.count }
    var first: Element? { head < storage.count ? storage[head] : nil }

    mutating func append(_ element: Element) {
        storage.append(element)
    }

    mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage[head]
        storage[head] = nil
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Takes out the first element that satisfies the condition.
    mutating func remove(where condition: (Element) -> Bool) -> Element? {
        guard let index = storage[head...].firstIndex(where: { $0.map(condition) ?? false }) else { return nil }
        return storage.remove(at: index)
    }

    mutating func removeAll() -> [Element] {
        defer {
            storage = []
            head = 0
        }
        return storage[head...].compactMap { $0 }
    }
}
