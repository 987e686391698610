"""reuse_object.py BUILD COMPILER…: runs the compiler, or copies the object file that it made in BUILD.

A compiler launcher for a second build of the same sources (CMAKE_CXX_COMPILER_LAUNCHER). If BUILD compiled
the source by the same command, apart from the names of outputs, copies its object file, unless the source is
newer. Reads the commands from BUILD/compile_commands.json.
"""

import json
import os
import pathlib
import shlex
import shutil
import sys

OUTPUTS = ("-o", "-MT", "-MF")


def outputs_apart(arguments):
    """Splits a command into the arguments without the options that name outputs, and those options' values.
    Reduces paths of precompiled headers, which each build has in its own folder, to target and file name."""
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
    """The path of the object file that `build` made by the same command, or None."""
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
