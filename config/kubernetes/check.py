"""Checks rendered manifests. See `check`, which runs it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import kubernetes_validate
    import yaml
    from referencing import Registry  # noqa: F401 (kubernetes-validate needs it, and an old jsonschema hides it)
except ImportError as error:
    print(f"check: {error}. Next: python3 -m pip install --target .build/python kubernetes-validate", file=sys.stderr)
    sys.exit(78)

import pod
import rules
from render import RenderError, render

HERE = os.path.dirname(os.path.abspath(__file__))
OVERLAYS = ["autoscaled", "instances"]
INSTANCE = ["--instance", "$(POD_NAME)"]
# The oldest version of Kubernetes that these manifests are for, and the newest one with schemas.
VERSIONS = ["1.31", kubernetes_validate.latest_version()]


def own_schemas():
    """Returns the schemas of `schemas` by API version and kind."""
    found = {}
    for name in os.listdir(os.path.join(HERE, "schemas")):
        with open(os.path.join(HERE, "schemas", name), encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        found[schema["properties"]["apiVersion"]["const"], schema["properties"]["kind"]["const"]] = schema
    return found


def place(error):
    """Returns the path of a schema error."""
    return "/".join(str(part) for part in error.absolute_path) or "(the object)"


def schema_faults(item, schemas):
    """Yields the members of an object that its schema refuses. An object without a schema is a fault."""
    schema = schemas.get((item.get("apiVersion"), item.get("kind")))
    if schema is not None:
        for error in jsonschema.Draft202012Validator(schema).iter_errors(item):
            yield f"{place(error)}: {error.message[:200]}"
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(item, version, strict=True)
        except kubernetes_validate.SchemaNotFoundError:
            yield f"no schema for {item['apiVersion']} {item['kind']}. Next: correct it, or add one to schemas"
        except kubernetes_validate.ValidationError as error:
            yield f"{place(error)}: {error.message[:200]} (Kubernetes {version})"
        else:
            continue
        return


def kubectl_faults(directory, items):
    """Yields the differences from what kubectl renders, if it is installed."""
    program = next((name for name in (["kubectl", "kustomize"], ["kustomize", "build"]) if shutil.which(name[0])), None)
    if program is None:
        return
    result = subprocess.run(program + [directory], capture_output=True, text=True, timeout=60, check=False)
    if result.returncode != 0:
        yield f"{program[0]}: {result.stderr.strip()[:300]}"
        return
    other = {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(result.stdout)}
    own = {(item["kind"], item["metadata"]["name"]): item for item in items}
    for name in sorted(set(own) | set(other)):
        if own.get(name) != other.get(name):
            yield f"{name[0]} {name[1]}: {program[0]} renders another object than render.py"


def overlay_faults(directory, schemas, scratch):
    """Yields all faults of an overlay."""
    items = render(directory)
    for item in items:
        for fault in schema_faults(item, schemas):
            yield f"{item.get('kind')} {item.get('metadata', {}).get('name')}: {fault}"
    yield from rules.faults(items)
    yield from kubectl_faults(directory, items)
    yield from pod.faults(items, os.environ["LINKD"], scratch)


def difference(directory):
    """Yields a fault if the pods of the overlays differ in more than the name of the instance."""
    specs = []
    for overlay in OVERLAYS:
        workload = pod.only_one(render(os.path.join(directory, "overlays", overlay)), pod.WORKLOADS)
        template = workload["spec"]["template"]
        template["spec"]["volumes"] = pod.volumes(workload)
        for container in template["spec"]["containers"]:
            container["args"] = [text for text in container.get("args", []) if text not in INSTANCE]
            container["env"] = [entry for entry in container.get("env", []) if entry["name"] != "POD_NAME"]
        specs.append(template)
    if specs[0] != specs[1]:
        yield "the pods of the overlays differ in more than the instance"


def main(directory):
    """Checks a directory, prints the faults, and returns the exit code."""
    schemas, found = own_schemas(), []
    for overlay in OVERLAYS:
        with tempfile.TemporaryDirectory(prefix="linkd-manifests.") as scratch:
            try:
                faults = list(overlay_faults(os.path.join(directory, "overlays", overlay), schemas, scratch))
            except (RenderError, pod.ManifestError) as error:
                faults = [str(error)]
        found += [f"{overlay}: {fault}" for fault in faults]
        if not faults:
            print(f"{overlay}: valid for Kubernetes {' and '.join(VERSIONS)}, and its settings are those of linkd")
    found = found or [f"overlays: {fault}" for fault in difference(directory)]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
