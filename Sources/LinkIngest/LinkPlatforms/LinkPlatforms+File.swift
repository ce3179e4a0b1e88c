internal import StrictJSON

/// The reading of a file of link platforms, and the check of its examples.
extension LinkPlatforms {
    /// Compiles the rules of a file.
    ///
    /// - Parameter file: The bytes of the file.
    /// - Throws: The problems of the file with their locations.
    package convenience init(file: [UInt8]) throws(RuleFileFailure) {
        self.init(try Self.read(file).source)
    }

    /// Reads a file and runs its examples.
    ///
    /// - Parameter file: The bytes of the file.
    /// - Returns: The rules, or nil if the file is not valid, and the problems with the file and its examples.
    package static func check(_ file: [UInt8]) -> (platforms: LinkPlatforms?, problems: [RuleFileProblem]) {
        do throws(RuleFileFailure) {
            let (source, json) = try read(file)
            let platforms = LinkPlatforms(source)
            return (platforms, problems(platforms.failedExamples(), in: json, file))
        } catch {
            return (nil, error.problems)
        }
    }

    /// Returns the source of a file, and the file as JSON.
    private static func read(_ file: [UInt8]) throws(RuleFileFailure) -> (source: LinkPlatformSource, json: JSONValue) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue.parse(file)
        } catch {
            let location = JSONLocation.locate(offset: error.offset, in: file)
            throw RuleFileFailure(problems: [RuleFileProblem(code: .json, location: location, expected: error.text)])
        }
        let reader = LinkPlatformReader(json)
        if !reader.found.isEmpty { throw RuleFileFailure(problems: problems(reader.found, in: json, file)) }
        return (reader.source, json)
    }

    /// Returns problems with the lines and columns of their values.
    private static func problems(
        _ found: [LinkPlatformReader.Found], in json: JSONValue, _ file: [UInt8]
    ) -> [RuleFileProblem] {
        found.map { one in
            let place = JSONLocation.locate(offset: json.nearest(to: one.pointer).value.offset, in: file)
            return RuleFileProblem(
                code: one.code, location: JSONLocation(line: place.line, column: place.column, pointer: one.pointer),
                expected: one.expected, nearest: one.nearest)
        }
    }
}
