import Foundation
import TestSupport
import Testing

/// The sample that signs tokens for Amazon MSK.
@Suite struct TokenSignerTests {
    private static let sample = Checkout.root.appending(path: "config/samples/msk-iam-token.py").path
    private static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    private static let session = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267"

    /// Arguments of `presigned`, with the signatures that AWS publishes: two of the test suite of Signature Version 4
    /// (awslabs/aws-c-auth, get-vanilla-query-order-key-case and get-vanilla-with-session-token), and the example of
    /// the reference of S3 (Authenticating Requests: Using Query Parameters).
    static let vectors = [
        (
            #""example.amazonaws.com","/",{"Param2":"value2","Param1":"value1"},"service","us-east-1","#
                + #"("AKIDEXAMPLE","\#(secret)",None),"20150830T123600Z",3600"#,
            "86012e2c9ad4d77369f5d81c11f75158aae4f895a085212cc6d3f923d300bed5"
        ),
        (
            #""example.amazonaws.com","/",{},"service","us-east-1","#
                + #"("AKIDEXAMPLE","\#(secret)","\#(session)"),"20150830T123600Z",3600"#,
            "7ff2b50b376cb4d151970630573d6291dc128cc5c2a12ffb237f73cc53f67b6c"
        ),
        (
            #""examplebucket.s3.amazonaws.com","/test.txt",{},"s3","us-east-1","#
                + #"("AKIAIOSFODNN7EXAMPLE","wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",None),"20130524T000000Z","#
                + #"86400,"UNSIGNED-PAYLOAD""#,
            "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        ),
    ]

    @Test("A URL has the signature that AWS publishes for it", arguments: vectors)
    func published(arguments: String, signature: String) throws {
        let program = "import runpy,sys; print(runpy.run_path(sys.argv[1])['presigned'](\(arguments)))"
        let result = try ChildProcess.run(["python3", "-B", "-c", program, Self.sample])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("&X-Amz-Signature=\(signature)\n"), "\(result.output)")
    }

    @Test("The token is a presigned URL of the region in base64url, without the secret")
    func token() throws {
        let variables = [
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": Self.secret, "AWS_SESSION_TOKEN": "a/b+c=",
        ]
        let result = try ChildProcess.run(["python3", "-B", Self.sample, "eu-central-1"], environment: variables)
        let text = String(result.output.dropLast())
        #expect(result.status == 0 && text.wholeMatch(of: #/[A-Za-z0-9_-]+/#) != nil, "\(result.output)")
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
        let data = try #require(Data(base64Encoded: padded))
        let url = String(decoding: data, as: UTF8.self)
        #expect(
            url.hasPrefix("https://kafka.eu-central-1.amazonaws.com/?Action=kafka-cluster%3AConnect&X-Amz-Algorithm="))
        for part in [
            "X-Amz-Credential=AKIDEXAMPLE%2F", "%2Feu-central-1%2Fkafka-cluster%2Faws4_request", "X-Amz-Expires=900",
            "X-Amz-Security-Token=a%2Fb%2Bc%3D",
        ] {
            #expect(url.contains(part), "\(url)")
        }
        #expect(!url.contains("wJalrXUtnFEMI"))
    }

    @Test("Without credentials or a region the program fails, so that linkd keeps the last token")
    func missing() throws {
        let result = try ChildProcess.run(
            ["env", "-u", "AWS_ACCESS_KEY_ID", "-u", "AWS_SECRET_ACCESS_KEY", "python3", "-B", Self.sample, "x"])
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment"))
    }
}
