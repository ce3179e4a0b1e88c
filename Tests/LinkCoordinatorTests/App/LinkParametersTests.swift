import LinkCoordinator
import Testing

/// The six tests of the EasyDev article for its own parameter type, and tests of its rules for case and decoding.
@Suite("Parameters of a link") struct LinkParametersTests {
    @Test("An empty link has no parameters")
    func emptyURL() { #expect(LinkParameters("myapp://").dictionary.isEmpty) }

    @Test("A single parameter is read")
    func singleQueryParameter() { #expect(LinkParameters("myapp://path?param1=value1")["param1"] == "value1") }

    @Test(
        "Several parameters are read, including an ampersand that HTML has changed",
        arguments: [
            ("myapp://path?param1=value1&param2=value2", false), ("myapp://path?param1=value1¶m2=value2", true),
            ("myapp://path?param1=value1&amp;param2=value2", true),
        ])
    func multipleQueryParameters(link: String, repair: Bool) {
        let parameters = LinkParameters(link, repair: repair)
        #expect(parameters["param1"] == "value1")
        #expect(parameters["param2"] == "value2")
    }

    @Test("Names are found in any case, and values keep their case")
    func caseInsensitiveParameterAccess() {
        let parameters = LinkParameters("myapp://path?Param1=VALUE1")
        #expect(parameters["param1"] == "VALUE1")
        #expect(parameters["PARAM1"] == "VALUE1")
        #expect(parameters.dictionary == ["param1": "VALUE1"])
    }

    @Test("An absent name has no value")
    func missingParameter() { #expect(LinkParameters("myapp://path?param1=value1")["param2"] == nil) }

    @Test(
        "A text that is not a link has no parameters", arguments: ["invalid-url", "", "?a=1", "a b://c?d=e", ":?a=1"])
    func malformedURL(link: String) { #expect(LinkParameters(link).dictionary.isEmpty) }

    @Test(
        "Pairs are split, then decoded once, the last value of a name is used, and names without a value are ignored")
    func decoding() {
        let parameters = LinkParameters("myapp://c?a=x%26b%3Dy&c=%2525&d=1&d=2&d&e=&f=%zz&a%20b=+#?g=1")
        #expect(parameters.dictionary == ["a": "x&b=y", "c": "%25", "d": "2", "e": "", "a b": "+"])
    }
}
