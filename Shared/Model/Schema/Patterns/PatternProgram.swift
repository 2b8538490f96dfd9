/// A pattern as instructions, each at its address.
struct PatternProgram: Sendable {
    enum Instruction: Hashable, Sendable {
        /// Takes a scalar of the set with this index.
        case one(Int)
        case start
        case end
        /// Continues at both addresses.
        case split(Int, Int)
        case jump(Int)
        case match
    }

    private(set) var code: [Instruction] = []
    private(set) var sets: [ScalarSet] = []
    /// True when no match can begin behind the start of the text.
    let isAnchored: Bool

    /// - Throws: `PatternError` if it would be larger than the limit; nothing is built then.
    init(_ node: PatternNode) throws(PatternError) {
        guard let size = node.size, size <= PatternLimits.instructionsMax else {
            throw PatternError(
                "is too large: with its counted repetitions written out, a pattern has at most"
                    + " \(PatternLimits.instructionsMax) characters and classes; count with \"maxLength\" instead")
        }
        isAnchored = node.isAnchored
        code.reserveCapacity(size + 1)
        emit(node)
        code.append(.match)
    }

    private mutating func emit(_ node: PatternNode) {
        switch node {
        case .one(let set):
            let index = sets.firstIndex(of: set) ?? sets.count
            if index == sets.count { sets.append(set) }
            code.append(.one(index))
        case .start: code.append(.start)
        case .end: code.append(.end)
        case .sequence(let parts): for part in parts { emit(part) }
        case .choice(let parts): emit(alternatives: parts)
        case .repeated(let part, let min, let max):
            for _ in 0..<min { emit(part) }
            if let max { emit(optional: part, count: max - min) } else { emit(loop: part) }
        }
    }

    private mutating func emit(alternatives: [PatternNode]) {
        var jumps: [Int] = []
        for part in alternatives.dropLast() {
            let split = placeholder()
            emit(part)
            jumps.append(placeholder())
            code[split] = .split(split + 1, code.count)
        }
        if let last = alternatives.last { emit(last) }
        for jump in jumps { code[jump] = .jump(code.count) }
    }

    private mutating func emit(loop part: PatternNode) {
        let split = placeholder()
        emit(part)
        code.append(.jump(split))
        code[split] = .split(split + 1, code.count)
    }

    private mutating func emit(optional part: PatternNode, count: Int) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(placeholder())
            emit(part)
        }
        for split in splits { code[split] = .split(split + 1, code.count) }
    }

    /// Returns the address of an instruction that is set once its destination is known.
    private mutating func placeholder() -> Int {
        code.append(.match)
        return code.count - 1
    }
}
