"""Renders an overlay without kustomize: the subset of kustomization files that this directory uses. Any other member is
an error, so that the result is never silently different from the result of `kubectl kustomize`.

    render.py OVERLAY    prints the objects as YAML
"""
import copy
import os
import sys

import yaml

HEAD = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
MEMBERS = set(HEAD) | {"resources", "configMapGenerator", "generatorOptions", "images", "patches"}


class RenderError(Exception):
    """A file that cannot be rendered."""


def load(path):
    """Returns the objects of a YAML file."""
    try:
        with open(path, encoding="utf-8") as file:
            found = [item for item in yaml.safe_load_all(file) if item is not None]
    except (OSError, yaml.YAMLError) as error:
        raise RenderError(f"{path}: {error}") from error
    for item in found:
        if not isinstance(item, dict):
            raise RenderError(f"{path}: expected a mapping, found {type(item).__name__}")
    return found


def only(members, allowed, path):
    """Refuses members that this renderer does not support."""
    for name in members:
        if name not in allowed:
            raise RenderError(f"{path}: `{name}` is not supported. Next: remove it, or extend render.py")


def inside(directory, name):
    """Returns the path of a file of a directory. Like kustomize, it reads no file outside of it."""
    path = os.path.normpath(os.path.join(directory, name))
    if os.path.commonpath([os.path.abspath(directory), os.path.abspath(path)]) != os.path.abspath(directory):
        raise RenderError(f"{path} is outside of {directory}, where kustomize reads no file")
    return path


def identity(item):
    """Returns the kind and the name of an object."""
    return item.get("kind"), item.get("metadata", {}).get("name")


def generated(generator, directory, path):
    """Returns the ConfigMap of a generator."""
    only(generator, {"name", "files"}, path)
    data = {}
    for name in generator["files"]:
        with open(inside(directory, name), encoding="utf-8") as file:
            data[os.path.basename(name)] = file.read()
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": generator["name"]}, "data": data}


def with_image(item, images):
    """Replaces the names and tags of images in the containers of an object."""
    containers = item.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
    for container in containers:
        name = container["image"].split(":")[0]
        for image in images:
            if image["name"] == name:
                container["image"] = f"{image.get('newName', name)}:{image['newTag']}"


def without(items, patches, path):
    """Returns the objects that no patch deletes."""
    left = list(items)
    for patch in patches:
        only(patch, {"patch"}, path)
        change = yaml.safe_load(patch["patch"])
        only(change, {"apiVersion", "kind", "metadata", "$patch"}, path)
        if change.get("$patch") != "delete":
            raise RenderError(f"{path}: only patches with `$patch: delete` are supported")
        kept = [item for item in left if identity(item) != identity(change)]
        if len(kept) == len(left):
            raise RenderError(f"{path}: there is no {change['kind']} {change['metadata']['name']} to delete")
        left = kept
    return left


def render(directory):
    """Returns the objects of a directory with a kustomization file."""
    path = os.path.join(directory, "kustomization.yaml")
    files = load(path)
    if len(files) != 1 or any(files[0].get(name) != value for name, value in HEAD.items()):
        raise RenderError(f"{path}: expected one object of kind Kustomization")
    file = files[0]
    only(file, MEMBERS, path)
    items = []
    for name in file.get("resources", []):
        resource = os.path.normpath(os.path.join(directory, name))
        items += render(resource) if os.path.isdir(resource) else load(inside(directory, name))
    # A hash in the name would have to be put into all references.
    if file.get("generatorOptions", {}) != ({"disableNameSuffixHash": True} if "configMapGenerator" in file else {}):
        raise RenderError(f"{path}: a configMapGenerator needs generatorOptions with only disableNameSuffixHash: true")
    items += [generated(generator, directory, path) for generator in file.get("configMapGenerator", [])]
    items = without(items, file.get("patches", []), path)
    for image in file.get("images", []):
        only(image, {"name", "newName", "newTag"}, path)
    for item in items:
        with_image(item, file.get("images", []))
    names = [identity(item) for item in items]
    for name in names:
        if names.count(name) > 1:
            raise RenderError(f"{path}: {name[0]} {name[1]} exists twice")
    return copy.deepcopy(items)


if __name__ == "__main__":
    try:
        print(yaml.safe_dump_all(render(sys.argv[1]), sort_keys=False), end="")
    except RenderError as failure:
        sys.exit(f"render: {failure}")
