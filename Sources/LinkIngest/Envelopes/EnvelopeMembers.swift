internal import ByteStorage
internal import StrictJSON

/// The members of a body that identify its envelope: their nodes, or -1.
struct EnvelopeMembers: BitwiseCopyable {
    var aps: Int32 = -1
    var message: Int32 = -1
    var data: Int32 = -1
    var notification: Int32 = -1
    var android: Int32 = -1
    var apns: Int32 = -1
    var webpush: Int32 = -1
    var webPush: Int32 = -1
    var token: Int32 = -1
    var topic: Int32 = -1
    var condition: Int32 = -1
    var specificationVersion: Int32 = -1
    var id: Int32 = -1
    var source: Int32 = -1
    var type: Int32 = -1
    var encodedData: Int32 = -1
    var dataContentType: Int32 = -1
    var partitionKey: Int32 = -1

    /// Finds the members of an object in one pass.
    init(of object: Int32, in nodes: JSONTape.Nodes) {
        guard nodes.kind(of: object) == .object else { return }
        let end = nodes.end(of: object)
        var node = object &+ 1
        while node < end {
            let member = nodes + Int(node)
            if member.pointee.kind != .null { set(member.pointee.name, node) }
            node = member.pointee.end
        }
    }

    private mutating func set(_ name: ByteView, _ node: Int32) {
        switch name.count {
        case 2:
            if name.equals("id") { id = node }
        case 3:
            if name.equals("aps") { aps = node }
        case 4:
            if name.equals("data") {
                data = node
            } else if name.equals("apns") {
                apns = node
            } else if name.equals("type") {
                type = node
            }
        case 5:
            if name.equals("token") {
                token = node
            } else if name.equals("topic") {
                topic = node
            }
        case 6:
            if name.equals("source") { source = node }
        case 7:
            if name.equals("message") {
                message = node
            } else if name.equals("android") {
                android = node
            } else if name.equals("webpush") {
                webpush = node
            }
        case 8:
            if name.equals("web_push") { webPush = node }
        case 9:
            if name.equals("condition") { condition = node }
        case 11:
            if name.equals("specversion") {
                specificationVersion = node
            } else if name.equals("data_base64") {
                encodedData = node
            }
        case 12:
            if name.equals("notification") {
                notification = node
            } else if name.equals("partitionkey") {
                partitionKey = node
            }
        case 15:
            if name.equals("datacontenttype") { dataContentType = node }
        default: break
        }
    }

    /// Returns a Boolean value that indicates whether the body is a message of FCM, or one around it.
    func isFCM(in nodes: JSONTape.Nodes) -> Bool { nodes.isObject(message) || hasContent(in: nodes) }

    /// Returns a Boolean value that indicates whether there is a member that only messages of FCM have.
    func hasContent(in nodes: JSONTape.Nodes) -> Bool {
        nodes.isObject(data) || nodes.isObject(notification) || nodes.isObject(android)
            || nodes.isObject(apns) || nodes.isObject(webpush)
    }

    /// Returns a Boolean value that indicates whether the body is a declarative message of Web Push.
    func isWebPush(in nodes: JSONTape.Nodes) -> Bool {
        guard webPush >= 0, nodes.kind(of: webPush) == .number, nodes.isObject(notification) else { return false }
        return nodes[Int(webPush)].text.equals("8030")
    }

    /// Returns a Boolean value that indicates whether the body is an event of CloudEvents.
    func isCloudEvent(in nodes: JSONTape.Nodes) -> Bool {
        nodes.isString(specificationVersion) && nodes.isString(id) && nodes.isString(source) && nodes.isString(type)
            && (data >= 0 || encodedData >= 0)
    }
}
