/// Models in the order of their rows, before they become an array.
///
/// An array that grows in generic code looks up its element's type for each element. This buffer creates the array
/// once, when the number is known.
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

    /// Returns all models and empties the buffer.
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
