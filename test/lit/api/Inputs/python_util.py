"""What the tests of the Python package share: compiled programs, parts of arrays, expected errors."""

import contextlib
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "Inputs"))

import numpy as np

import ccn

# Sizes that the meshes do not divide, and few elements.
SIZES = {"N": 103, "B": 6, "S": 5, "H": 12, "F": 10, "T": 7, "C": 3}


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)


def call(*command, code=0, env=None):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=300, env=env)
    assert done.returncode == code, (command, done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return done


def package(cccompile, text, name, *options):
    """The program of a text, loaded."""
    with open(name + ".ccn", "w") as file:
        file.write(text)
    call(*cccompile, name + ".ccn", *options, "--emit", "package", "-o", name + ".ccnpkg")
    return ccn.load(name + ".ccnpkg")


def own_axes(program, argument):
    """The mesh axes for each of which an array has a leading dimension."""
    text = argument.type_name
    if re.search(r" (local|partial\(\w+\))$", text):
        return list(program.mesh)
    named = re.findall(r"local\((\w+)\)|partial\(\w+, (\w+)\)", text)
    return [axis for axis in program.mesh if axis in {a or b for a, b in named}]


def part_of(program, argument, rank, whole):
    """The view of a rank's part in the array of all ranks, as it is in a file."""
    axes = own_axes(program, argument)
    coordinates = dict(zip(program.mesh, np.unravel_index(rank, list(program.mesh.values()))))
    offset, shape = argument.part(rank)
    index = tuple(coordinates[axis] for axis in axes) + tuple(slice(o, o + s) for o, s in zip(offset, shape))
    # A view, also of one element.
    return whole[(*index, ...)]


@contextlib.contextmanager
def refused(kind, *texts):
    """Expects an error of exactly this kind whose text has these."""
    try:
        yield
    except Exception as error:
        assert type(error) is kind, (kind, type(error), str(error))
        for text in texts:
            assert text in str(error), (text, str(error))
        return
    raise AssertionError(f"expected {kind.__name__} with {texts}")
