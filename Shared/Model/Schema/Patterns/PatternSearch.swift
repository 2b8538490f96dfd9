/// One search of a pattern in a text, in which all alternatives advance together, a scalar at a time.
struct PatternSearch {
    private let program: PatternProgram
    /// The addresses that wait for the present scalar, and for the next one.
    private var current: [Int] = []
    private var next: [Int] = []
    /// The position at which each address was last added, so that it is added once for each.
    private var added: [Int]
    private var stack: [Int] = []
    /// The number of instructions executed so far.
    private(set) var steps = 0

    init(_ program: PatternProgram) {
        self.program = program
        added = [Int](repeating: -1, count: program.code.count)
    }

    mutating func finds(in text: String) -> Bool {
        var scalars = text.unicodeScalars.makeIterator()
        var scalar = scalars.next()
        var position = 0
        if add(0, at: position, isEnd: scalar == nil) { return true }
        swap(&current, &next)
        while let value = scalar?.value {
            if current.isEmpty, program.isAnchored { return false }
            scalar = scalars.next()
            position += 1
            next.removeAll(keepingCapacity: true)
            for address in current {
                steps += 1
                guard case .one(let set) = program.code[address], program.sets[set].contains(value) else { continue }
                if add(address + 1, at: position, isEnd: scalar == nil) { return true }
            }
            if !program.isAnchored, add(0, at: position, isEnd: scalar == nil) { return true }
            swap(&current, &next)
        }
        return false
    }

    /// Adds an address and all that it leads to without a scalar.
    ///
    /// - Returns: whether the pattern has matched.
    private mutating func add(_ address: Int, at position: Int, isEnd: Bool) -> Bool {
        stack.append(address)
        while let address = stack.popLast() {
            steps += 1
            guard added[address] != position else { continue }
            added[address] = position
            switch program.code[address] {
            case .one: next.append(address)
            case .start: if position == 0 { stack.append(address + 1) }
            case .end: if isEnd { stack.append(address + 1) }
            case .split(let one, let other):
                stack.append(other)
                stack.append(one)
            case .jump(let target): stack.append(target)
            case .match: return true
            }
        }
        return false
    }
}
