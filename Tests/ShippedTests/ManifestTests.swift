import Foundation
import TestSupport
import Testing

/// Checks of the manifests for Kubernetes, which need no cluster and no network.
@Suite struct ManifestTests {
    /// A defect of a manifest.
    struct Defect: Sendable, CustomStringConvertible {
        /// The file in `config/kubernetes`.
        let file: String
        /// The text that is replaced.
        let text: String
        /// The replacement.
        let replacement: String
        /// A part of the line that the check prints.
        let finding: String

        init(_ file: String, _ text: String, _ replacement: String, _ finding: String) {
            (self.file, self.text, self.replacement, self.finding) = (file, text, replacement, finding)
        }

        var description: String { "\(file): \(replacement)" }
    }

    static let directory = Checkout.root.appending(path: "config/kubernetes")

    /// The reason why tests are skipped without the schemas of Kubernetes.
    static let unavailableReason =
        "Python's kubernetes-validate is not installed (pip install --target .build/python kubernetes-validate)"

    /// A Boolean value that indicates whether the schemas of Kubernetes are available, or required.
    static let isAvailable = SchemaValidator.isRun(environment: ProcessInfo.processInfo.environment) {
        let modules = Checkout.root.appending(path: ".build/python").path
        let probe = "import sys; sys.path.insert(0, '\(modules)'); import kubernetes_validate"
        return (try? ChildProcess.run(["python3", "-c", probe]))?.status == 0
    }

    /// Runs the check of a directory with the built program.
    static func check(_ directory: URL) throws -> ChildProcess.Result {
        let script = Self.directory.appending(path: "check").path
        return try ChildProcess.run([script, directory.path], environment: ["LINKD": BuiltProgram.linkd])
    }

    @Test(
        "Both overlays are valid, and their settings, paths, and ports are those of the program",
        .enabled(if: isAvailable, Comment(rawValue: unavailableReason)))
    func valid() throws {
        let result = try Self.check(Self.directory)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.split(separator: "\n").count == 2)
    }

    static let defects = [
        Defect("base/worker.yaml", "\n  selector:", "\n  selektor:", "'selector' is a required property"),
        Defect("base/worker.yaml", "imagePullPolicy", "imagePulPolicy", "'imagePulPolicy' was unexpected"),
        Defect("base/settings.yaml", "LINKD_LANES:", "LINKD_LANE:", "LINKD_LANE is not a setting"),
        Defect("base/settings.yaml", #"LANES: "2""#, #"LANES: "200""#, "specify an integer in 1..64"),
        Defect("base/settings.yaml", "SASL_MECHANISM", "SASL_MECHANIC", "KAFKA_SASL_MECHANIC is no setting"),
        Defect("base/settings.yaml", "/var/lib/linkd", "/var/linkd", "STATE_DIR is /var/linkd, which no"),
        Defect(
            "base/settings.yaml", "# LINKD_DEVICES_TOPIC", "LINKD_DEVICES_TOPIC",
            "state.dir has 2Gi, and devices.max needs 5Gi"),
        Defect("base/worker.yaml", "emptyDir: {sizeLimit: 2Gi}", "hostPath: {path: /var}", "state.dir is not in an"),
        Defect("base/settings.yaml", #"partitions: "6""#, #"partitions: "5""#, "3 replicas with 2 lanes are more"),
        Defect("base/settings.yaml", #"":8080""#, #"":8081""#, "http.listen has the port 8081"),
        Defect("base/worker.yaml", "Seconds: 40", "Seconds: 30", "terminationGracePeriodSeconds is less than"),
        Defect("base/worker.yaml", "enableServiceLinks: false", "enableServiceLinks: true", "LINKD_SERVICE_HOST"),
        Defect("base/worker.yaml", "path: /ready", "path: /redy", "readinessProbe reads /redy instead of /ready"),
        Defect("base/worker.yaml", "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "is writable"),
        Defect("base/worker.yaml", "tables, readOnly", "tables, subPath: shop.json, readOnly", "has a subPath"),
        Defect("base/worker.yaml", "limits: {memory: 1Gi", "limits: {memory: 2Gi", "the pods of the overlays differ"),
        Defect("base/service.yaml", "selector: {app.kubernetes.io/name", "selector: {name", "finds nothing"),
        Defect("base/kustomization.yaml", "generatorOptions", "namePrefix", "`namePrefix` is not supported"),
        Defect("base/rules.yaml", "for: 30s", "for: 31s", "its rules are not those of config/monitoring/alerts.yml"),
        Defect("base/rules.yaml", "alert: LinkdPaused", "alarm: LinkdPaused", "spec/groups/0/rules"),
        Defect(
            "overlays/autoscaled/scaler.yaml", "minReplicaCount: 2", "minReplicaCount: 1", "is less than 2, so that"),
        Defect("overlays/instances/worker.yaml", "replicas: 3", "replicas: 1", "1 replica: nobody decides while"),
        Defect("overlays/autoscaled/scaler.yaml", "maxReplicaCount: 3", "maxReplicaCount: 4", "4 replicas with 2"),
        Defect("overlays/autoscaled/scaler.yaml", "lagThreshold", "lagTreshold", "'lagTreshold' was unexpected"),
        Defect("overlays/autoscaled/scaler.yaml", "topic: link-events", "topic: links", "topic of the scaler is links"),
        Defect("overlays/autoscaled/scaler.yaml", "kind: Trigger", "kind: Triger", "no schema for keda.sh/v1alpha1"),
        Defect("overlays/instances/worker.yaml", "--instance", "--instanse", "has no flag --instanse"),
        Defect("overlays/instances/worker.yaml", ", --instance, $(POD_NAME)", "", "a StatefulSet needs `--instance`"),
        Defect("overlays/instances/kustomization.yaml", "newTag: 0.1.0", "newTag: latest", "has no version"),
    ]

    @Test(
        "A defect of a manifest is found, and named", .enabled(if: isAvailable, Comment(rawValue: unavailableReason)),
        arguments: defects)
    func defect(_ defect: Defect) throws {
        let copy = FileManager.default.temporaryDirectory.appending(path: "manifests-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: Self.directory, to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        let file = copy.appending(path: defect.file)
        let text = try String(contentsOf: file, encoding: .utf8)
        try #require(text.contains(defect.text))
        try Data(text.replacing(defect.text, with: defect.replacement).utf8).write(to: file)
        let result = try Self.check(copy)
        #expect(result.status == 1, "\(result.output)\(result.errors)")
        #expect(result.output.contains(defect.finding), "\(result.output)\(result.errors)")
    }

    @Test(
        "A registry of devices in a claim with room for it, or in a larger directory, is valid",
        .enabled(if: isAvailable, Comment(rawValue: unavailableReason)), arguments: ["claim", "template", "directory"])
    func registry(kind: String) throws {
        let copy = FileManager.default.temporaryDirectory.appending(path: "manifests-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: Self.directory, to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        let readme = try String(contentsOf: copy.appending(path: "README.md"), encoding: .utf8)
        let claim = try #require(readme.firstMatch(of: /- name: state\n +(ephemeral:\n(?: {10}.*\n)+)/)).1
        let template = try #require(readme.firstMatch(of: /\n( +volumeClaimTemplates:\n(?: {4}.*\n)+)/)).1
        func replace(_ file: String, _ pairs: [(String, String)]) throws {
            let file = copy.appending(path: file)
            var text = try String(contentsOf: file, encoding: .utf8)
            for (old, new) in pairs {
                try #require(text.contains(old), "\(old)")
                text = text.replacing(old, with: new)
            }
            try Data(text.utf8).write(to: file)
        }
        try replace("base/settings.yaml", [("# LINKD_DEVICES_", "LINKD_DEVICES_")])
        let room = [("sizeLimit: 2Gi", "sizeLimit: 6Gi"), ("ephemeral-storage: 3Gi", "ephemeral-storage: 7Gi")]
        for file in ["base/worker.yaml", "overlays/instances/worker.yaml"] {
            try replace(file, kind == "directory" ? room : [("emptyDir: {sizeLimit: 2Gi}", String(claim))])
        }
        if kind == "template" {
            let volume = "        - name: state\n          \(claim)"
            try replace("overlays/instances/worker.yaml", [(volume, String(template))])
        }
        let result = try Self.check(copy)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        if kind == "template" {
            try replace("overlays/instances/worker.yaml", [("storage: 6Gi", "storage: 4Gi")])
            #expect(try Self.check(copy).output.contains("state.dir has 4Gi, and devices.max needs 5Gi"))
        }
        guard kind == "directory" else { return }
        try replace("base/worker.yaml", [("ephemeral-storage: 7Gi", "ephemeral-storage: 5Gi")])
        #expect(try Self.check(copy).output.contains("ephemeral-storage, 5Gi, is less than the volume of state.dir"))
    }

    @Test("The table of the manifests is the shipped one, and the image has the version of the program")
    func copies() throws {
        let table = try ContainerTests.text("config/kubernetes/base/tables/shop.json")
        #expect(try table == ContainerTests.text("config/routes/shop.json"))
        let version = try ChildProcess.run([BuiltProgram.linkd, "--version"]).output
        for overlay in ["autoscaled", "instances"] {
            let text = try ContainerTests.text("config/kubernetes/overlays/\(overlay)/kustomization.yaml")
            let tag = try #require(text.firstMatch(of: /newTag: (\S+)/)).1
            #expect(version.hasPrefix("linkd \(tag)"), "\(version)")
        }
    }
}
