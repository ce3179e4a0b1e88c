import Foundation
import LinkCoordinator
import TableSupport
import Testing

@Suite("Models of a decision") struct ModelTests {
    struct Product: LinkModel, Encodable, Equatable {
        let id: UUID
        let count: Int
    }

    struct Search: LinkModel, Encodable, Equatable {
        var q: String
        var tags: [String]
    }

    enum Kind: String, Codable { case small, large }

    struct Everything: LinkModel, Encodable, Equatable {
        static let modelName = "All"
        var text: String?
        var ratio: Double
        var isOn: Bool
        var kind: Kind
        var small: UInt8
        var list: [Int]
    }

    static let uuid = LinkTests.uuid

    @Test("A model of the app is decoded from the entry that it is bound to")
    func extract() throws {
        let decision = try TableFiles.anchor().resolve(
            "shop:///p/\(Self.uuid.lowercased())?count=3", device: DeviceFacts(app: "6.0.0"))
        let product = Product(id: try #require(UUID(uuidString: Self.uuid)), count: 3)
        #expect(try decision.stack[2].model(Product.self) == product)
        #expect(try decision.model(Product.self) == product)
    }

    @Test("An absent model or a wrong type is a typed error that names the model and the field")
    func errors() throws {
        struct Wrong: LinkModel {
            static let modelName = "Product"
            let id: Int
        }
        struct MissingField: LinkModel {
            static let modelName = "Product"
            let price: Int
        }
        let decision = try TableFiles.anchor().resolve("shop:///p/\(Self.uuid)", device: DeviceFacts(app: "6.0.0"))
        func error(_ body: () throws -> Void) -> ModelError? { #expect(throws: ModelError.self, performing: body) }
        #expect(error { _ = try decision.stack[0].model(Product.self) }?.code == .noModel)
        #expect(error { _ = try decision.model(Search.self) }?.code == .noModel)
        #expect(error { _ = try decision.model(Wrong.self) }?.detail.hasPrefix("field `id` is a string") == true)
        #expect(
            error { _ = try decision.model(MissingField.self) }?.detail.hasPrefix("field `price` is missing") == true)
    }

    @Test("Every type of field is decoded, and encoded unchanged")
    func types() throws {
        let values: Models = [
            "All": ["text": .null, "ratio": 2.5, "isOn": true, "kind": "large", "small": 255, "list": [1, -2]]
        ]
        let model = try values.model(Everything.self)
        #expect(model == Everything(text: nil, ratio: 2.5, isOn: true, kind: .large, small: 255, list: [1, -2]))
        var written = try Models(model)
        // An optional property without a value is not encoded.
        written.fields["All"]?["text"] = .null
        #expect(written == values)
        #expect(throws: ModelError.self) { try Models(["All": ["ratio": 2.5, "small": 256]]).model(Everything.self) }
    }

    @Test("A nested structure is rejected")
    func nested() throws {
        struct Inner: Codable { var a = 1 }
        struct Outer: LinkModel, Encodable { var inner = Inner() }
        #expect(throws: ModelError.self) { try Models(Outer()) }
        #expect(throws: ModelError.self) { try Models(["Outer": ["inner": "x"]]).model(Outer.self) }
    }
}
