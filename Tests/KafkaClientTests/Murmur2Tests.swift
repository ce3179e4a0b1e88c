import CRdKafka
@testable import KafkaClient
import ByteStorage
import Testing
import TestSupport

/// The partitioner of this package, compared with librdkafka's implementation of the Java client's partitioner.
struct Murmur2Tests {
    @Test(
        "The hashes of Kafka's own tests are reproduced",
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            ("abc", 479_470_107),
        ])
    func known(key: String, expected: Int32) {
        let hash = Array(key.utf8).withUnsafeBufferPointer { Murmur2.hash(ByteView($0)) }
        #expect(Int32(bitPattern: hash) == expected)
    }

    @Test("Any key has the same partition as with librdkafka's murmur2", arguments: [UInt64(20_260_101), 7, 8])
    func likeLibrdkafka(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for length in Array(0...64) + (0..<400).map({ _ in Int.random(in: 0...300, using: &random) }) {
            let key = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let partitions = Int32.random(in: 1...1000, using: &random)
            key.withUnsafeBufferPointer { bytes in
                let view = ByteView(bytes)
                let theirs = rd_kafka_msg_partitioner_murmur2(nil, view.start, view.count, partitions, nil, nil)
                #expect(Murmur2.partition(of: view, among: partitions) == theirs, "seed \(seed), key \(key)")
            }
        }
    }
}
