"""reuse_object.py BUILD COMPILER…: the compiler's command, or a copy of what it made in BUILD.

A compiler launcher for a second build of the same sources (CMAKE_CXX_COMPILER_LAUNCHER). If BUILD has
compiled the source by the same command, but for names of outputs, its object is copied, unless the source
is newer. BUILD/compile_commands.json has the commands.
"""

import json
import os
import pathlib
import shlex
import shutil
import sys

OUTPUTS = ("-o", "-MT", "-MF")


def outputs_apart(arguments):
    """A command without the options that name or make outputs, and those options' values. Precompiled
    headers lie in each build's own folder: of their paths, the target and the name count."""
    rest, outputs = [], {}
    words = iter(arguments)
    for word in words:
        if word in OUTPUTS:
            outputs[word] = next(words)
        elif pathlib.PurePath(word).name.startswith("cmake_pch."):
            rest.append(pathlib.PurePath(word).parts[-2:])
        elif word != "-MD":
            rest.append(word)
    return rest, outputs


def object_of(build, command):
    """The object that `build` made by `command`, or None."""
    wanted, _ = outputs_apart(command)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"] != wanted[-1]:
            continue
        made, outputs = outputs_apart(shlex.split(entry["command"]))
        if made == wanted:
            return pathlib.Path(entry["directory"]) / outputs["-o"]
    return None


def main(build, *command):
    made = object_of(pathlib.Path(build), command)
    if made is None or not made.exists() or made.stat().st_mtime < os.stat(command[-1]).st_mtime:
        os.execvp(command[0], command)
    _, outputs = outputs_apart(command)
    shutil.copyfile(made, outputs["-o"])


if __name__ == "__main__":
    main(*sys.argv[1:])
