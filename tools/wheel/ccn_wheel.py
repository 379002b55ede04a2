"""Builds ccn's wheel, and its source distribution: what pip calls, as PEP 517 has it, for `pip install .`.

The wheel has the Python package, and in its folder `_native` all that `cmake --install` installs, with the shared
libraries that this needs beside libccn: LLVM, MLIR, Z3 and what these need. Only the C and C++ libraries and zlib are
taken from the system, as the wheel's tag (manylinux_2_36_x86_64) promises. So it needs no compiler and no LLVM where it
is installed. It serves every version of Python, since ccn loads libccn through ctypes.

Not scikit-build-core, because that takes no libraries in; auditwheel, which would, renames them and so breaks what is
opened by name. This needs no network and nothing but Python 3.11 and what ccn itself is built with: see tools/setup.

    pip wheel . --config-settings=build=build    takes what is built in that folder, rather than building in build-wheel
    pip wheel . --config-settings=compress=1     compresses less, and faster (0 to 9; 6 is the default)
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile

from elf import Elf, is_elf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NATIVE = "ccn/_native"

# What every Linux has that has this glibc, as PEP 600 allows.
SYSTEM = re.compile(r"(linux-vdso|ld-linux-x86-64|lib(c|m|dl|rt|pthread|util|z|gcc_s|stdc\+\+))\.so\b.*")
# These are opened where the machine has what they need.
OPTIONAL = ("libccn-mpi.so",)


def project():
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]


def version():
    text = (ROOT / "runtime/api/ccn.h").read_text()
    return ".".join(re.findall(r"^#define CCN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.M))


def settings_of(config_settings):
    given = dict(config_settings or {})
    settings = {"build": given.pop("build", None), "compress": int(given.pop("compress", 6))}
    if given:
        raise ValueError(f"expected the settings build and compress, found {', '.join(given)}")
    return settings


def run(*command):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT)


def install(build, prefix):
    """Installs what is in a build folder, which is built first if none is given."""
    if build is None:
        build = ROOT / "build-wheel"
        run("cmake", "--preset", "release", "-B", build, "-DCCN_TESTS=OFF", "-DCMAKE_INSTALL_LIBDIR=lib")
        run("cmake", "--build", build, "--target", "ccn-tools")
    run("cmake", "--install", pathlib.Path(build).resolve(), "--prefix", prefix)
    if not (prefix / "lib/libccn.so").exists():
        raise RuntimeError(f"expected {build} to be configured with -DCMAKE_INSTALL_LIBDIR=lib")


def drop_links(lib):
    """Zip files have no symbolic links: libraries stay under the names by which they are found."""
    for link in [path for path in lib.iterdir() if path.is_symlink()]:
        target = link.resolve()
        link.unlink()
        # Those that applications link are found by three names.
        if target.name.startswith("libccn.so."):
            shutil.copyfile(target, link)
    for path in [path for path in lib.iterdir() if path.is_file() and is_elf(path)]:
        with Elf(path) as elf:
            soname = elf.soname
        if soname and soname != path.name and not path.name.startswith("libccn.so"):
            path.rename(lib / soname)


def needed_by(files):
    """The libraries of this system that files need, by their names."""
    found = {}
    for file in files:
        listed = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            name, _, place = (word.strip() for word in line.partition("=>"))
            if SYSTEM.fullmatch(os.path.basename(name.split()[0])):
                continue
            if not place.startswith("/"):
                raise RuntimeError(f"{file}: '{name}' is not found")
            found[name] = pathlib.Path(place.split()[0])
    return found


def take_licence(library, folder):
    """The licence of a library that another package of the system has installed, as far as it is known."""
    real = library.resolve()
    done = subprocess.run(["dpkg-query", "-S", f"*/{real.name}"], capture_output=True, text=True, check=False)
    for package in {line.partition(":")[0] for line in done.stdout.splitlines() if line.endswith("/" + real.name)}:
        text = pathlib.Path("/usr/share/doc") / package / "copyright"
        if text.exists():
            shutil.copyfile(text, folder / f"{package}.txt")
            return True
    return False


def gather(prefix, licences):
    """Puts the libraries that an installed tree needs into it."""
    lib = prefix / "lib"
    drop_links(lib)
    own = [path for folder in (lib, prefix / "bin") for path in sorted(folder.iterdir())
           if path.is_file() and is_elf(path) and path.name not in OPTIONAL]
    licences.mkdir(parents=True)
    for path in own:
        with Elf(path, writes=True) as elf:
            if path.parent != lib and "$ORIGIN/../lib" not in elf.run_path.split(":"):
                raise RuntimeError(f"{path}: expected a run path with $ORIGIN/../lib, found '{elf.run_path}'")
    for name, library in needed_by(own).items():
        if not (lib / name).exists():
            shutil.copyfile(library, lib / name)
            (lib / name).chmod(0o755)
            if not take_licence(library, licences):
                print(f"warning: the licence of {library} is not known", file=sys.stderr)
    # Those of others have no run paths, and are to find each other here.
    for path in own:
        with Elf(path, writes=True) as elf:
            elf.pass_run_path_on()


def tag_of(tree):
    newest = (2, 17)
    for path in tree.rglob("*"):
        if path.is_file() and path.name not in OPTIONAL and is_elf(path):
            with Elf(path) as elf:
                newest = max(newest, elf.needed_glibc())
    return f"py3-none-manylinux_{newest[0]}_{newest[1]}_{platform.machine()}"


def metadata():
    about = project()
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {version()}",
             f"Summary: {about['description']}", f"Keywords: {','.join(about['keywords'])}",
             f"License: {about['license']}", "License-File: LICENSE"]
    lines += [f"Classifier: {name}" for name in about["classifiers"]]
    lines += [f"Requires-Python: {about['requires-python']}"]
    for extra, needs in about["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"] + [f"Requires-Dist: {need} ; extra == '{extra}'" for need in needs]
    return "\n".join(lines + ["Description-Content-Type: text/markdown", "", description()])


def description():
    """README.md, without its links to other files, which lead nowhere outside the repository."""
    return re.sub(r"\[([^\]]+)\]\((?![a-z]+:)[^)]+\)", r"\1", (ROOT / "README.md").read_text())


def write_info(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(metadata())
    scripts = "".join(f"{name} = {function}\n" for name, function in project()["scripts"].items())
    (folder / "entry_points.txt").write_text("[console_scripts]\n" + scripts)
    shutil.copy(ROOT / "LICENSE", folder)


def pack(tree, info, wheel, level):
    """Writes a wheel of the files below a folder, each with its hash."""
    # The same files give the same wheel.
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]
    rows = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=level)

        for path in sorted(path for path in tree.rglob("*") if path.is_file()):
            name, data = path.relative_to(tree).as_posix(), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}\n")
            add(name, data, 0o755 if os.access(path, os.X_OK) else 0o644)
        add(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n", 0o644)


# What pip calls.


def get_requires_for_build_wheel(config_settings=None):
    return [tool for tool in ("cmake", "ninja") if shutil.which(tool) is None]


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = f"ccn-{version()}.dist-info"
    write_info(pathlib.Path(metadata_directory) / name)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    settings = settings_of(config_settings)
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        native, info = tree / NATIVE, f"ccn-{version()}.dist-info"
        install(settings["build"], native)
        # The package itself is installed for all that Python finds there.
        for path in (native / "lib/python/ccn").iterdir():
            shutil.move(path, tree / "ccn")
        shutil.rmtree(native / "lib/python")
        write_info(tree / info)
        gather(native, tree / info / "licenses")
        tag = tag_of(tree)
        (tree / info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: ccn_wheel\nRoot-Is-Purelib: false\n"
                                           f"Tag: {tag}\n")
        name = f"ccn-{version()}-{tag}.whl"
        pack(tree, info, pathlib.Path(wheel_directory) / name, settings["compress"])
    return name


def build_sdist(sdist_directory, config_settings=None):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    base = f"ccn-{version()}"
    with tempfile.TemporaryDirectory() as folder, \
            tarfile.open(f"{sdist_directory}/{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        about = pathlib.Path(folder) / "PKG-INFO"
        about.write_text(metadata())
        archive.add(about, f"{base}/PKG-INFO")
        for name in listed.split("\0"):
            if name:
                archive.add(ROOT / name, f"{base}/{name}", recursive=False)
    return f"{base}.tar.gz"
