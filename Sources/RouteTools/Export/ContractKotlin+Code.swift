internal import LinkCoordinator

// The declarations of the file, and the functions that read them.
extension ContractKotlin {
    /// Returns a sealed class with its cases, which all have a shared property.
    func sealed(_ name: String, _ about: String, shared: String, _ type: String, cases: [Case]) -> [String] {
        var lines = [
            "", "    /** \(about) */", "    sealed class \(name) {", "        abstract val \(shared): \(type)",
        ]
        for one in cases {
            let properties = one.properties.map {
                ($0.name == shared ? "override " : "") + "val \($0.name): \($0.type)"
            }
            lines += ["", "        /** \(one.about) */", "        data class \(one.name)("]
            lines += properties.map { "            \($0)," }.withoutLastComma + ["        ) : \(name)()"]
        }
        return lines + ["    }"]
    }

    /// Returns the class of an object.
    ///
    /// - Parameter keepsJSON: A Boolean value that indicates whether the class also has the map that it was read from.
    func declaration(
        _ object: ContractObject, _ name: String, indent: Int, keepsJSON: Bool = false
    ) -> [String] {
        let margin = String(repeating: " ", count: indent)
        let head = ["", "\(margin)/** \(object.about) */"]
        if object.members.isEmpty { return head + ["\(margin)object \(name)"] }
        let properties = properties(object.members, in: name).map { "\(margin)    val \($0.name): \($0.type)," }
        let json = keepsJSON ? ["\(margin)    val json: Map<String, Any?>,"] : []
        var lines = head + ["\(margin)data class \(name)("] + (properties + json).withoutLastComma
        let enumerations = object.members.compactMap { member -> (String, [String])? in
            guard case .field(let type, _) = member.type, let values = Self.values(type) else { return nil }
            return (Self.enumerations(object.members)[member.name] ?? member.name, values)
        }
        if enumerations.isEmpty { return lines + ["\(margin))"] }
        lines.append("\(margin)) {")
        for (name, values) in enumerations { lines += enumeration(name, values, indent: indent + 4).dropFirst() }
        return lines + ["\(margin)}"]
    }

    private static func values(_ type: FieldType) -> [String]? {
        switch type {
        case .enumeration(let values) where values.count <= maxBranches:
            values.map { String(decoding: $0, as: UTF8.self) }
        case .list(let element, _, _): values(element)
        default: nil
        }
    }

    /// Returns an enumeration of texts.
    func enumeration(_ name: String, _ values: [String], indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var names = CodeNames(reserving: ["Companion", "String"])
        let constants = names.assign(values, upper: true)
        return ["", "\(margin)enum class \(name)(val text: String) {"]
            + values.map { "\(margin)    \(constants[$0] ?? $0)(\(CodeNames.literal($0)))," }.withoutLastComma
            + ["\(margin)}"]
    }

    /// The functions that read decisions, entries, models, and other objects.
    var readers: [String] {
        var lines = [
            "", "    /**", "     * Reads a decision of the table from the map of its JSON object.", "     *",
            "     * Members that this file does not know are in [About.json].", "     *",
            "     * @throws DecisionException if it is no decision of the table, or one of a table with other screens.",
            "     */", "    fun decision(json: Map<String, Any?>): Decision {", "        val value = Value(json, \"\")",
            "        if (!value.member(\"table\").isOf(\(CodeNames.literal(contract.table.id + "@")))) {",
            "            value.member(\"table\").fail(\(CodeNames.literal("the table " + contract.table.id)))",
            "        }",
            "        return when (value.member(\"outcome\").text()) {",
        ]
        for one in decisions { lines += Self.branch(one, of: "Decision") }
        lines += ["            else -> value.member(\"outcome\").fail(\"an outcome\")", "        }", "    }"]
        var groups: [[Case]] = []
        var size = Self.maxReads
        for entry in entries {
            size += 1 + entry.properties.count
            if size > Self.maxReads {
                groups.append([])
                size = 1 + entry.properties.count
            }
            groups[groups.count - 1].append(entry)
        }
        // A table without screens has no entries.
        lines += ["", "    @Suppress(\"UNREACHABLE_CODE\", \"UNUSED_VARIABLE\")"]
        lines.append("    private fun readEntry(value: Value): Entry {")
        lines += ["        val path = value.member(\"coordinator\").text() + \"/\" + value.member(\"screen\").text()"]
        lines.append(
            "        return " + groups.indices.map { "readEntry\($0)(path, value) ?: " }.joined() + "value.fail(")
        lines += ["            \"a screen of \" + \(CodeNames.literal(contract.table.identity)))", "    }"]
        for (index, group) in groups.enumerated() {
            lines += ["", "    private fun readEntry\(index)(path: String, value: Value): Entry? = when (path) {"]
            lines += group.flatMap { Self.branch($0, of: "Entry") }.map { String($0.dropFirst(4)) }
            lines += ["        else -> null", "    }"]
        }
        for model in contract.models {
            let type = typeName(of: model.name)
            lines += reader("Model\(type)", "Models.\(type)", properties(model.members, in: type), json: false)
        }
        for object in [contract.about] + contract.others {
            let properties = properties(object.members, in: object.name)
            lines += reader(object.name, object.name, properties, json: object.name == "About")
        }
        return lines
    }

    private static func branch(_ one: Case, of type: String) -> [String] {
        ["            \(CodeNames.literal(one.key)) -> \(type).\(one.name)("]
            + one.properties.map { "                \($0.read)," }.withoutLastComma + ["            )"]
    }

    private func reader(_ name: String, _ type: String, _ properties: [Property], json: Bool) -> [String] {
        let head = ["", "    private fun read\(name)(value: Value): \(type)"]
        if properties.isEmpty && !json {
            return [head[0], head[1] + " {", "        value.members()", "        return \(type)", "    }"]
        }
        let values = properties.map { "        \($0.read)," } + (json ? ["        value.map { it.json },"] : [])
        return [head[0], head[1] + " = \(type)("] + values.withoutLastComma + ["    )"]
    }

    /// Returns an identifier in source code: keywords in backticks.
    static func code(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    private static let keywords: Set<String> = [
        "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in", "interface", "is", "null",
        "object", "package", "return", "super", "this", "throw", "true", "try", "typealias", "typeof", "val", "var",
        "when", "while",
    ]

    /// The names of types that the code refers to.
    static let reserved: Set<String> = [
        "About", "Any", "BigDecimal", "Boolean", "Context", "Decision", "DecisionException", "Double",
        "Entry", "Facts", "List", "Long", "Map", "Mode", "Models", "Nothing", "Presentation", "Push", "Resume",
        "String", "Value",
    ]

    /// The exception, and the class that reads values.
    static let support = #"""

        /** A decision that cannot be read. The message has its place, and no value. */
        class DecisionException(val place: String, expected: String) :
            IllegalArgumentException("the decision has no valid member $place: expected $expected")

        private class Value(val json: Any?, val place: String) {
            fun fail(expected: String): Nothing = throw DecisionException(if (place == "") "/" else place, expected)

            fun members(): Map<*, *> = json as? Map<*, *> ?: fail("an object")

            fun member(name: String) = Value(members()[name], place + "/" + name)

            fun isOf(table: String): Boolean = json == null || text().startsWith(table)

            val isTrue: Boolean get() = json == true

            fun text(): String = json as? String ?: fail("a string")

            fun flag(): Boolean = json as? Boolean ?: fail("true or false")

            fun double(): Double = (json as? Number ?: fail("a number")).toDouble()

            fun decimal(): java.math.BigDecimal = try {
                java.math.BigDecimal((json as? Number ?: fail("a number")).toString())
            } catch (error: NumberFormatException) {
                fail("a finite number")
            }

            fun long(): Long = try {
                decimal().longValueExact()
            } catch (error: ArithmeticException) {
                fail("an integer")
            }

            fun <T> word(words: Array<T>, text: (T) -> String): T =
                words.firstOrNull { text(it) == json } ?: fail("one of " + words.joinToString { text(it) })

            fun <T> orNull(read: (Value) -> T): T? = if (json == null) null else read(this)

            fun <T> list(read: (Value) -> T): List<T> = (json as? List<*> ?: fail("a list"))
                .mapIndexed { index, item -> read(Value(item, place + "/" + index)) }

            fun <T> map(read: (Value) -> T): Map<String, T> = members().entries.associate { (name, item) ->
                (name as? String ?: fail("names")) to read(Value(item, place + "/" + name))
            }
        }
        """#.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}

extension [String] {
    /// The lines without the comma at the end of the last one, which Kotlin allows only from version 1.4.
    fileprivate var withoutLastComma: [String] { isEmpty ? [] : dropLast() + [String(self[count - 1].dropLast())] }
}

extension ContractObject {
    /// The number of properties of the object's class.
    var properties: Int {
        members.reduce(0) { count, member in
            if case .models(let models) = member.type { return count + models.count }
            return count + 1
        }
    }
}

/// An error that occurs when an object has too many members for a class of Kotlin.
package struct ContractError: Error, CustomStringConvertible {
    /// The model, or the path of the screen.
    let object: String
    /// The number of its properties.
    let properties: Int

    /// The error as a phrase.
    package var description: String {
        "`\(object)` has \(properties) properties, and a class of Kotlin at most \(ContractKotlin.maxProperties) here"
    }
}
