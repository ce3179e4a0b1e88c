"""Compares the pods of rendered manifests with the settings of the program, which checks names, types, and bounds."""
import json
import os
import re
import subprocess

PAGES = {"/ping", "/ready", "/metrics", "/status"}
WORKLOADS = ["Deployment", "StatefulSet"]
# The time between the end of shutdown.grace and SIGKILL.
MARGIN = 5
# The room in state.dir for the archive of tables, and for a device of the registry.
ARCHIVE_BYTES, DEVICE_BYTES = 2 ** 30, 200


class ManifestError(Exception):
    """Manifests that cannot be compared with the program."""


def of_kind(items, kind):
    """Returns the objects of a kind."""
    return [item for item in items if item.get("kind") == kind]


def only_one(items, kinds):
    """Returns the only object of several kinds."""
    found = [item for kind in kinds for item in of_kind(items, kind)]
    if len(found) != 1:
        raise ManifestError(f"expected one of {' and '.join(kinds)}, found {len(found)}")
    return found[0]


def size(text):
    """Returns the number of bytes of a quantity such as 2Gi."""
    match = re.fullmatch(r"([0-9]+)([KMGT]i)?", text)
    if match is None:
        raise ManifestError(f"expected a size such as 2Gi, found {text}")
    return int(match[1]) * 1024 ** (" KMGT".index(match[2][0]) if match[2] else 0)


def seconds(text):
    """Returns the seconds of a duration such as `30s`."""
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    parts = re.fullmatch(r"([0-9]+)(ms|s|m|h)", text)
    if parts is None:
        raise ManifestError(f"{text} is not a duration")
    return int(parts[1]) * units[parts[2]]


def volumes(workload):
    """Returns the volumes of a pod, with the claim templates of a StatefulSet, which it mounts like its own volumes."""
    return workload["spec"]["template"]["spec"]["volumes"] + [
        {"name": item["metadata"]["name"], "ephemeral": {"volumeClaimTemplate": {"spec": item["spec"]}}}
        for item in workload["spec"].get("volumeClaimTemplates", [])]


class Pod:
    """The pod of a worker, with what its volumes and settings have."""

    def __init__(self, items, scratch):
        self.items, self.scratch = items, scratch
        self.workload = only_one(items, WORKLOADS)
        self.spec = self.workload["spec"]["template"]["spec"]
        if len(self.spec["containers"]) != 1:
            raise ManifestError("expected one container")
        self.container = self.spec["containers"][0]
        self.volumes = volumes(self.workload)
        self.labels = self.workload["spec"]["template"]["metadata"]["labels"]
        self.mounts = {mount["mountPath"]: mount for mount in self.container.get("volumeMounts", [])}
        self.maps = {item["metadata"]["name"]: item for item in of_kind(items, "ConfigMap")}
        self.environment = {}
        for source in self.container.get("envFrom", []):
            name = source["configMapRef"]["name"]
            if name not in self.maps:
                raise ManifestError(f"there is no ConfigMap {name}")
            self.environment.update(self.maps[name]["data"])
        for variable in self.container.get("env", []):
            self.environment[variable["name"]] = variable.get("value", "linkd-0")

    def partitions(self):
        """Returns the number of input partitions that the settings name."""
        for item in self.maps.values():
            number = item["metadata"].get("annotations", {}).get("linkd/partitions", "")
            if re.fullmatch("[1-9][0-9]*", number):
                return int(number)
        raise ManifestError("no ConfigMap has the annotation linkd/partitions with a number")

    def arguments(self):
        """Returns the arguments of the container after the command, with the values of variables."""
        given = self.container.get("args", [])
        if given[:1] != ["worker"]:
            raise ManifestError("expected the command `worker` in args")
        return [re.sub(r"\$\((\w+)\)", lambda name: self.environment[name[1]], text) for text in given[1:]]

    def volume(self, path):
        """Returns the mount and the volume that contain a path, or None."""
        for parent, mount in self.mounts.items():
            if path == parent or path.startswith(parent + "/"):
                return mount, next(item for item in self.volumes if item["name"] == mount["name"])
        return None

    def local(self, path):
        """Returns a path of this machine for one of the container, with the files of its ConfigMap or a secret."""
        mount = self.volume(path)
        if mount is None:
            return path
        local = self.scratch + path
        volume = mount[1]
        os.makedirs(os.path.dirname(local), exist_ok=True)
        if "configMap" in volume:
            os.makedirs(local, exist_ok=True)
            for name, text in self.maps.get(volume["configMap"]["name"], {}).get("data", {}).items():
                with open(os.path.join(local, name), "w", encoding="utf-8") as file:
                    file.write(text)
        elif "secret" in volume:
            with open(local, "w", encoding="utf-8") as file:
                file.write("an-example\n")
        else:
            os.makedirs(local, exist_ok=True)
        return local


def effective(pod, program):
    """Returns the settings of the container as `linkd config` prints them."""
    given = {name: pod.local(value) if value.startswith("/") else value for name, value in pod.environment.items()}
    command = [program, "config", "--json"] + pod.arguments()
    environment = {"PATH": os.environ["PATH"], "HOME": pod.scratch} | given
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if result.returncode != 0:
        raise ManifestError(f"linkd config ended with {result.returncode}: {result.stderr.strip()[:300]}")
    return json.loads(result.stdout)


def setting_faults(pod, settings):
    """Yields variables that no setting uses, and paths of settings that no volume has."""
    entries = [entry for name, entry in settings.items() if name != "librdkafka"]
    used = {entry["from"] for entry in entries + list(settings.get("librdkafka", {}).values())}
    for name, value in pod.environment.items():
        if name.startswith(("LINKD_", "KAFKA_")) and f"environment {name}" not in used:
            yield f"{name} is no setting and no property of librdkafka"
        if value.startswith("/") and pod.volume(value) is None:
            yield f"{name} is {value}, which no volume has"
    for path, mount in pod.mounts.items():
        if not any(value == path or value.startswith(path + "/") for value in pod.environment.values()):
            yield f"{path} is mounted, and no setting names it"
        if "subPath" in mount:
            yield f"{path} has a subPath, so that a change never arrives"
    tables = pod.volume(settings["table.directory"]["value"].removeprefix(pod.scratch))
    if tables is None or tables[1].get("configMap", {}).get("name") not in pod.maps:
        yield "table.directory is not in a volume of a ConfigMap that exists"
    state = pod.volume(settings["state.dir"]["value"].removeprefix(pod.scratch))
    if state is None or not {"emptyDir", "ephemeral"} & state[1].keys():
        yield "state.dir is not in an emptyDir, an ephemeral volume, or a claim template of the pod"
    else:
        yield from registry_faults(pod, settings, state[1])


def registry_faults(pod, settings, volume):
    """Yields a volume of state.dir without room for the registry of devices."""
    if settings["devices.topic"]["value"] is None:
        return
    if "emptyDir" in volume:
        room = volume["emptyDir"].get("sizeLimit", "0")
        storage = pod.container.get("resources", {}).get("limits", {}).get("ephemeral-storage", "0")
        if size(storage) < size(room):
            yield f"the limit of ephemeral-storage, {storage}, is less than the volume of state.dir, {room}"
    else:
        room = volume["ephemeral"]["volumeClaimTemplate"]["spec"]["resources"]["requests"]["storage"]
    needed = ARCHIVE_BYTES + settings["devices.max"]["value"] * DEVICE_BYTES
    if size(room) < needed:
        yield f"state.dir has {room}, and devices.max needs {-(-needed // 2**30)}Gi"


def port_faults(pod, settings):
    """Yields ports and pages that the worker does not have."""
    port = int(settings["http.listen"]["value"].rsplit(":", 1)[1])
    named = {entry.get("name"): entry["containerPort"] for entry in pod.container.get("ports", [])}
    if port not in named.values():
        yield f"http.listen has the port {port}, which is not a containerPort"
    for probe, page in {"startupProbe": "/ping", "livenessProbe": "/ping", "readinessProbe": "/ready"}.items():
        request = pod.container.get(probe, {}).get("httpGet", {})
        if request.get("path") != page:
            yield f"{probe} reads {request.get('path')} instead of {page}"
        if named.get(request.get("port"), request.get("port")) != port:
            yield f"{probe} has the port {request.get('port')}, and http.listen {port}"
    for service in of_kind(pod.items, "Service"):
        for entry in service["spec"]["ports"]:
            if named.get(entry.get("targetPort"), entry.get("targetPort", entry["port"])) != port:
                yield f"Service {service['metadata']['name']}: the port {entry['port']} does not lead to {port}"
    for monitor in of_kind(pod.items, "ServiceMonitor"):
        ports = {entry.get("name") for service in of_kind(pod.items, "Service") for entry in service["spec"]["ports"]}
        for end in monitor["spec"]["endpoints"]:
            if end.get("path", "/metrics") not in PAGES or end["port"] not in ports:
                yield f"ServiceMonitor: no Service has the port {end['port']}, or no page is {end.get('path')}"


def selector_faults(pod):
    """Yields selectors that do not find the pods, or the Service."""
    for item in pod.items:
        spec = item.get("spec", {})
        if item["kind"] == "ServiceMonitor":
            chosen, labels = spec["selector"]["matchLabels"], [
                service["metadata"].get("labels", {}) for service in of_kind(pod.items, "Service")]
        else:
            selector = spec.get("podSelector") or spec.get("selector")
            if selector is None:
                continue
            chosen, labels = selector.get("matchLabels", selector), [pod.labels]
        if not any(chosen.items() <= found.items() for found in labels):
            yield f"{item['kind']} {item['metadata']['name']}: the selector {chosen} finds nothing"


def life_faults(pod, settings):
    """Yields what would end a worker before its time, or let it start with more rights than it needs."""
    grace = seconds(settings["shutdown.grace"]["value"])
    if pod.spec.get("terminationGracePeriodSeconds", 30) < grace + MARGIN:
        yield f"terminationGracePeriodSeconds is less than shutdown.grace, {grace:g} s, and {MARGIN} s"
    if pod.spec.get("enableServiceLinks", True):
        yield "enableServiceLinks is not false: variables of Services such as LINKD_SERVICE_HOST are refused with 78"
    if pod.spec.get("automountServiceAccountToken", True):
        yield "automountServiceAccountToken is not false"
    context = pod.container.get("securityContext", {})
    if not context.get("readOnlyRootFilesystem") or context.get("capabilities", {}).get("drop") != ["ALL"]:
        yield "the root file system is writable, or capabilities are left"
    if not pod.spec.get("securityContext", {}).get("runAsNonRoot"):
        yield "runAsNonRoot is not true"
    resources = pod.container.get("resources", {})
    if "memory" not in resources.get("limits", {}) or not {"cpu", "memory"} <= resources.get("requests", {}).keys():
        yield "requests of cpu and memory and a limit of memory are required"
    if not re.fullmatch(r"\S+:[0-9]+\.[0-9]+\.[0-9]+", pod.container["image"]):
        yield f"the image {pod.container['image']} has no version"


def scale_faults(pod, settings):
    """Yields more lanes than partitions, and a scaler that reads another topic or group than the workers."""
    lanes, name = settings["lanes"]["value"], pod.workload["metadata"]["name"]
    if settings["lanes"]["from"] == "default":
        yield "LINKD_LANES is not set, so that the lanes depend on the node"
    has_instance = settings["instance"]["value"] is not None
    if has_instance != (pod.workload["kind"] == "StatefulSet"):
        yield "a StatefulSet needs `--instance`, and a Deployment must not have it: its names are new at every start"
    replicas = pod.workload["spec"].get("replicas")
    for scaler in of_kind(pod.items, "ScaledObject"):
        spec = scaler["spec"]
        if spec["scaleTargetRef"]["name"] != name or replicas is not None:
            yield f"the target of the scaler is not {name} without replicas"
        if spec.get("minReplicaCount", 0) < 2:
            yield "minReplicaCount is less than 2, so that nobody decides while the only worker is replaced"
        replicas = spec.get("maxReplicaCount", 100)
        asked = spec["triggers"][0]["metadata"]
        expected = {"bootstrapServers": settings["bootstrap"], "topic": settings["input"],
                    "consumerGroup": settings["group"]}
        for member, setting in expected.items():
            value = setting["value"]
            value = ",".join(value) if isinstance(value, list) else value
            if asked[member] != value:
                yield f"{member} of the scaler is {asked[member]}, and that of the workers {value}"
    if (replicas or 1) < 2:
        yield f"{replicas or 1} replica: nobody decides while the only worker is replaced"
    if (replicas or 1) * lanes > pod.partitions():
        yield f"{replicas} replicas with {lanes} lanes are more than {pod.partitions()} partitions"


def faults(items, program, scratch):
    """Yields the faults of rendered manifests."""
    pod = Pod(items, scratch)
    settings = effective(pod, program)
    yield from setting_faults(pod, settings)
    yield from port_faults(pod, settings)
    yield from selector_faults(pod)
    yield from life_faults(pod, settings)
    yield from scale_faults(pod, settings)
