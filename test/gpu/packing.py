"""What all that is packed for machines with GPUs has in common: how programs are compiled, and what carries them."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile


def compile_file(folder, file, package, options=()):
    """Has the cccompile in a folder compile a program's file to a package."""
    command = [f"{folder}/cccompile", file, *options, "--emit", "package", "--target", "sm_90a", "--cpu", "x86-64-v3", "-o", package]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CCN_VERIFY": "0"}, check=False)


def compile_text(folder, text, package):
    """Likewise a program's text."""
    with tempfile.NamedTemporaryFile("w", suffix=".ccn") as file:
        file.write(text)
        file.flush()
        return compile_file(folder, file.name, package)


def compile_all(items, compile_one):
    """Calls compile_one, which gives how a compiler ended, for several items at once. Those that compiled; what the others'
    compilers said is printed."""
    compiled = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for item, done in zip(items, pool.map(compile_one, items)):
            if done.returncode:
                print(f"{item['name']}: {done.stderr.strip()}")
            else:
                compiled.append(item)
    return compiled


def carry(built, folder, *scripts):
    """Copies scripts, the Python module in `python`, libccn, and the libraries that other machines may lack."""
    for script in scripts:
        shutil.copy(script, folder)
    shutil.copytree(f"{built}/lib/python", f"{folder}/python", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    library = f"{built}/lib/libccn.so.0.1"
    shutil.copy(library, folder)
    needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    for other in re.findall(r"=> (\S*/libmd\S*)", needed):
        shutil.copy(other, folder)
