internal import LinkCoordinator

extension TableSource {
    /// Returns the indices of the coordinators in the order of the file, but each directly after its parent and that
    /// parent's other children.
    func coordinatorsAfterParents(_ names: TableNames) -> [Int] {
        var children: [Int: [Int]] = [:]
        for (index, coordinator) in coordinators.enumerated() {
            let parent = coordinator.parent.flatMap { names.coordinators[$0.value] } ?? -1
            children[parent, default: []].append(index)
        }
        var order: [Int] = []
        var next = Array((children[-1] ?? []).reversed())
        while let index = next.popLast() {
            order.append(index)
            next += (children[index] ?? []).reversed()
        }
        return order
    }
}
