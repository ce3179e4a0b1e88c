import LinkCoordinator
import Testing

/// The six tests that the EasyDev article prints for its own parameter bag, and what it says of case and decoding.
@Suite("Parameters of a link in any case") struct LinkParametersTests {
    @Test("an empty link has none")
    func emptyURL() { #expect(LinkParameters("myapp://").dictionary.isEmpty) }

    @Test("one parameter")
    func singleQueryParameter() { #expect(LinkParameters("myapp://path?param1=value1")["param1"] == "value1") }

    @Test(
        "several parameters; the article prints the ampersand as what HTML makes of it",
        arguments: [
            ("myapp://path?param1=value1&param2=value2", false), ("myapp://path?param1=value1¶m2=value2", true),
            ("myapp://path?param1=value1&amp;param2=value2", true),
        ])
    func multipleQueryParameters(link: String, repair: Bool) {
        let parameters = LinkParameters(link, repair: repair)
        #expect(parameters["param1"] == "value1")
        #expect(parameters["param2"] == "value2")
    }

    @Test("a name is found in any case, a value keeps its own")
    func caseInsensitiveParameterAccess() {
        let parameters = LinkParameters("myapp://path?Param1=VALUE1")
        #expect(parameters["param1"] == "VALUE1")
        #expect(parameters["PARAM1"] == "VALUE1")
        #expect(parameters.dictionary == ["param1": "VALUE1"])
    }

    @Test("a name that is not there has no value")
    func missingParameter() { #expect(LinkParameters("myapp://path?param1=value1")["param2"] == nil) }

    @Test("what is no link has no parameters", arguments: ["invalid-url", "", "?a=1", "a b://c?d=e", ":?a=1"])
    func malformedURL(link: String) { #expect(LinkParameters(link).dictionary.isEmpty) }

    @Test("pairs are split before they are decoded, once; the last of a name counts; a null hides nothing")
    func decoding() {
        let parameters = LinkParameters("myapp://c?a=x%26b%3Dy&c=%2525&d=1&d=2&d&e=&f=%zz&a%20b=+#?g=1")
        #expect(parameters.dictionary == ["a": "x&b=y", "c": "%25", "d": "2", "e": "", "a b": "+"])
    }
}
