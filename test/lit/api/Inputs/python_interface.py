"""That all of ccn says one version, and that every public name of the Python package is annotated.

    python_interface.py FOLDER SOURCE BUILD CCCOMPILE...
"""

import ast
import inspect
import os
import re
import sys
import typing

from python_util import call, fresh, package

import ccn
import ccn._compiler
import ccn._elements
import ccn._executor
import ccn._library
import ccn._program
import ccn._specialize
import ccn._team

folder, source, build, *cccompile = sys.argv[1:]
fresh(folder)

# The version.
with open(os.path.join(source, "runtime", "api", "ccn.h")) as file:
    parts = re.findall(r"^#define CCN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read(), re.M)
version = ".".join(parts)
assert len(parts) == 3 and ccn.__version__ == version, (parts, ccn.__version__)
for tool in ("cccompile", "ccrun", "ccsynth", "ccn-opt"):
    found = call(os.path.join(build, "bin", tool), "--version").stdout
    assert found == f"{tool} {version}\n", found
with open(os.path.join(build, "ccnConfigVersion.cmake")) as file:
    assert f'set(PACKAGE_VERSION "{version}")' in file.read()
assert ccn._library._SONAME == "libccn.so." + (".".join(parts[:2]) if parts[0] == "0" else parts[0])
program = package(cccompile, "mesh m (r = 1)\nprogram p(inout x: f32[2], a: f32) { x <- a * x }\n", "p")
found = call(os.path.join(build, "bin", "ccrun"), "p.ccnpkg", "--info").stdout
assert f"ccn {version}" in found, found
with open(os.path.join(source, "CHANGELOG.md")) as file:
    assert re.search(rf"^## {re.escape(version)}\b", file.read(), re.M), "the version has no entry in CHANGELOG.md"

# The annotations.
assert os.path.exists(os.path.join(os.path.dirname(ccn.__file__), "py.typed"))
SPECIAL = ("__init__", "__call__", "__enter__", "__exit__")
checked = 0


def check(name, node):
    """That a function has all its annotations."""
    global checked
    arguments = node.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    for argument in listed:
        if argument and argument.arg not in ("self", "cls"):
            assert argument.annotation, f"{name}: '{argument.arg}' is not annotated"
    assert node.returns, f"{name}: the result is not annotated"
    checked += 1


package_folder = os.path.dirname(ccn.__file__)
# Of ccn.torch, which needs PyTorch.
with open(os.path.join(package_folder, "torch", "__init__.py")) as file:
    listed = next(ast.literal_eval(node.value) for node in ast.parse(file.read()).body
                  if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
assert "register" in listed and "FusedAdamW" in listed, listed
files = [path for path in sorted(os.listdir(package_folder)) if path.endswith(".py")]
files += [os.path.join("torch", path) for path in sorted(os.listdir(os.path.join(package_folder, "torch")))
          if path.endswith(".py")]
seen = set()
for file_name in files:
    # In the language of the oldest Python that is served.
    with open(os.path.join(package_folder, file_name)) as file:
        body = ast.parse(file.read(), feature_version=(3, 8)).body
    for node in body:
        names = listed if file_name.startswith("torch") else ccn.__all__
        is_public = node.name in names if hasattr(node, "name") else False
        if is_public and file_name.startswith("torch"):
            seen.add(node.name)
            assert ast.get_docstring(node), f"{file_name}: {node.name} has no description"
        if isinstance(node, ast.FunctionDef) and is_public:
            check(f"{file_name}: {node.name}", node)
        if isinstance(node, ast.ClassDef) and is_public:
            for own in node.body:
                if isinstance(own, ast.FunctionDef) and (own.name[0] != "_" or own.name in SPECIAL):
                    check(f"{file_name}: {node.name}.{own.name}", own)
assert checked > 40, checked
assert seen == set(listed), seen ^ set(listed)

# Annotations name what there is, and public attributes are among them.
for name in ccn.__all__:
    value = getattr(ccn, name)
    assert value.__doc__ and value.__module__ == "ccn", name
    names = {}
    for module in (typing, ccn, ccn._compiler, ccn._elements, ccn._executor, ccn._library, ccn._program,
                   ccn._specialize, ccn._team):
        names.update(vars(module))
    typing.get_type_hints(value, names)
    for method in vars(value).values() if isinstance(value, type) else ():
        if inspect.isfunction(method) and (method.__name__[0] != "_" or method.__name__ in SPECIAL):
            typing.get_type_hints(method, names)
with ccn.Team(program) as team:
    for one in (program, program.arguments[0], team, program.on(team, 0)):
        public = {name for name in vars(one) if name[0] != "_"}
        hints = {name for kind in type(one).__mro__ for name in vars(kind).get("__annotations__", ())}
        assert public <= hints, (type(one), public - hints)
print("annotated")
