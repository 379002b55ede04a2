"""Process groups that meet in files: FAKE_GROUP names a folder, FAKE_RANK and FAKE_SIZE say which rank this is."""

import os
import pickle
import time

_gathered = 0


def is_available():
    return True


def is_initialized():
    return "FAKE_GROUP" in os.environ


def get_rank(group=None):
    return int(os.environ["FAKE_RANK"])


def get_world_size(group=None):
    return int(os.environ["FAKE_SIZE"])


def all_gather_object(found, own, group=None):
    global _gathered
    _gathered += 1
    place = os.path.join(os.environ["FAKE_GROUP"], f"{_gathered}-")
    with open(f"{place}{get_rank()}.new", "wb") as file:
        pickle.dump(own, file)
    os.rename(f"{place}{get_rank()}.new", f"{place}{get_rank()}")
    for rank in range(len(found)):
        while not os.path.exists(f"{place}{rank}"):
            time.sleep(0.01)
        with open(f"{place}{rank}", "rb") as file:
            found[rank] = pickle.load(file)


def all_reduce(tensor, group=None):
    found = [None] * get_world_size(group)
    all_gather_object(found, tensor.array, group)
    tensor.array[...] = sum(found)
