"""reuse_object.py BUILD OWN COMPILER…: runs the compiler, or copies the object file that it made in BUILD.

The compiler launcher of a second build of the same sources, in the folder OWN (RUNG_REUSE). BUILD has to be up to
date. If it compiled the same source by the same command, apart from the names of outputs and from -Werror, copies
its object file. The dependency file names that object, so that ninja copies it again after BUILD has renewed it.
"""

import filecmp
import json
import os
import pathlib
import shlex
import shutil
import sys

OUTPUTS = ("-o", "-MT", "-MF")


def outputs_apart(command):
    """Splits a command into what decides about the object, and the values of the options that name outputs. The
    compiler is a path without links. Precompiled headers, which each build has in its own folder, are reduced to target
    and file name."""
    first = next(i for i, word in enumerate(command) if word.startswith("-"))  # after launchers and the compiler
    rest, outputs = [os.path.realpath(command[first - 1])], {}
    words = iter(command[first:])
    for word in words:
        if word in OUTPUTS:
            outputs[word] = next(words)
        elif pathlib.PurePath(word).name.startswith("cmake_pch."):
            rest.append(pathlib.PurePath(word).parts[-2:])
        elif word not in ("-MD", "-Werror"):
            rest.append(word)
    return rest, outputs


def equal_files(own, others):
    """True if both are a file of the same contents, or if all files of the folder `own` are in `others`, too."""
    if own.is_dir():
        return all(equal_files(path, others / path.name) for path in own.iterdir())
    return others.is_file() and filecmp.cmp(own, others, shallow=False)


def object_of(build, own, command):
    """The path of the object file that `build` made by the same command, or None."""
    source = command[-1].replace(own, build)
    wanted, _ = outputs_apart([word.replace(own, build) for word in command])
    generated = [word.removeprefix("-I") for word in command if word.removeprefix("-I").startswith(own)]
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text()):
        if entry["file"] != source:
            continue
        made, outputs = outputs_apart(shlex.split(entry["command"]))
        path = pathlib.Path(entry["directory"], outputs["-o"])
        if made == wanted and path.exists():
            same = all(equal_files(pathlib.Path(name), pathlib.Path(name.replace(own, build))) for name in generated)
            return path if same else None
    return None


def main(build, own, *command):
    made = object_of(build, own, command)
    if made is None:
        os.execvp(command[0], command)
    _, outputs = outputs_apart(command)
    shutil.copyfile(made, outputs["-o"])
    pathlib.Path(outputs["-MF"]).write_text(f"{outputs['-o']}: {made}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
