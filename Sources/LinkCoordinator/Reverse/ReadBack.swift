internal import ByteStorage
internal import StrictJSON

// The values that the last resolution bound, for comparison with the values that were written into a link.
extension Resolver {
    /// Returns the value of a field in the route's own scope, or the default of a missing value.
    package mutating func boundValue(_ number: Int) -> ModelValue {
        let field = tableData.fields.at(number)
        let value = values[number]
        guard value.stamp == values.stamp, !value.state.isAbsent else { return absentValue(field) }
        guard value.state == .list else { return modelValue(value, field.kind) }
        let kind = field.item
        var list: [ModelValue] = []
        for index in 0..<Int(value.count) { list.append(modelValue(values.items[Int(value.first) + index], kind)) }
        return .list(list)
    }

    private mutating func absentValue(_ field: Ref<CompiledField>) -> ModelValue {
        switch field.absence {
        case .required, .null: .null
        case .emptyList: .list([])
        case .value: modelValue(text: field.absentText.string, field.kind)
        }
    }

    private mutating func modelValue(_ value: BoundValue, _ kind: CompiledField.Kind) -> ModelValue {
        modelValue(text: value.state == .uuid ? value.view.string.uppercased() : value.view.string, kind)
    }

    private mutating func modelValue(text: String, _ kind: CompiledField.Kind) -> ModelValue {
        switch kind {
        case .bool: .bool(text == "true")
        case .int, .double, .decimal: .number(text)
        default: .text(text)
        }
    }

    /// Returns the text of a capture of the selected pattern, or the segments of a tail.
    ///
    /// Returns nil if there is no such capture.
    package mutating func capturedTexts(_ name: String) -> [String]? {
        guard let number = tableData.names.firstIndex(where: { $0.string == name }) else { return nil }
        guard let first = tail(Int32(number)) else { return capture(Int32(number)).map { [$0.string] } }
        var texts: [String] = []
        for index in first..<max(first, path.count) { texts.append(path[index].text.string) }
        return texts
    }

    /// Selects and binds without composing a stack, so that device support does not matter.
    mutating func readBack(
        _ request: UnsafePointer<RequestView>, _ device: UnsafePointer<DeviceView>, table: TableHandle
    ) throws(Rejection) {
        start(request, device, table: table)
        let selection = try select(normalize(request.pointee.text))
        if let route = selection.route, route.action == .variants { try bindRoute(route) }
    }

    /// Returns the difference between the last resolution and the given route with these values, or nil if there is
    /// none.
    mutating func difference(from route: Int, _ arguments: LinkArguments) -> LinkError.Difference? {
        guard let selected = selection.route else { return .noRoute }
        if tableData.number(of: selected) != route || !via.isEmpty { return .route(selected.id.string) }
        for (number, value) in arguments.expected where boundValue(number) != value {
            let field = tableData.fields.at(number)
            return .field("\(field.modelName.string).\(field.name.string)")
        }
        for (name, texts) in arguments.free where capturedTexts(name) ?? [] != texts && rawText(name) != texts {
            return .capture(name)
        }
        return nil
    }

    /// Returns the text of a capture as written in the link, if it is written in another form than the canonical one.
    private mutating func rawText(_ name: String) -> [String]? {
        guard let number = tableData.names.firstIndex(where: { $0.string == name }) else { return nil }
        return captureSlice(Int32(number)).map { [$0.string] }
    }
}
