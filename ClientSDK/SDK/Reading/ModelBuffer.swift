/// Models in the order of their rows, on the way to an array.
///
/// An array that grows in code which does not know its element's type asks for the type with each element; this one is made
/// when their number is known.
struct ModelBuffer<Model>: ~Copyable {
    private var models: UnsafeMutablePointer<Model>
    private var count = 0
    private var capacity = 64

    init() { models = .allocate(capacity: capacity) }

    deinit {
        models.deinitialize(count: count)
        models.deallocate()
    }

    @inline(__always)
    mutating func append(_ model: consuming Model) {
        if count == capacity { grow() }
        (models + count).initialize(to: model)
        count += 1
    }

    /// All models; the buffer is then empty.
    mutating func take() -> [Model] {
        defer { count = 0 }
        return Array(unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            start.moveInitialize(from: models, count: count)
            initialized = count
        }
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Model>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: models, count: count)
        models.deallocate()
        models = larger
        capacity *= 2
    }
}
