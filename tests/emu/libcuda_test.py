"""libcuda_test.py RUNG FOLDER: the libcuda.so.1 for programs with a compiler of their own, called from Python by ctypes.

RUNG is the command line, FOLDER the one with libcuda.so.1. Needs no package of Python's.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

RUNG, FOLDER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

# The first lines of the programs below: the driver, and launches of a kernel on managed memory.
BEGIN = '''
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def check(result):
    assert result == 0, result
context, module = ctypes.c_void_p(), ctypes.c_void_p()
check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
def numbers(values):
    pointer = ctypes.c_uint64()
    check(cuda.cuMemAllocManaged(ctypes.byref(pointer), ctypes.c_size_t(4 * len(values)), 1))
    memory = (ctypes.c_int * len(values)).from_address(pointer.value)
    memory[:] = values
    return pointer, memory
def launch(text, name, grid, block, *arguments, call=cuda.cuLaunchKernel, end=(None,)):
    function = ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), text.encode()))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, name))
    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(each) for each in arguments))
    check(call(function, grid, 1, 1, block, 1, 1, 0, None, pointers, *end))
    check(cuda.cuCtxSynchronize())
'''

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n"

# Each thread adds 1 to its element; with LINE, a line table names kernel.py.
ADD = HEAD + '''
.visible .entry add(.param .u64 data)
{
  .reg .b64 %address, %offset;
  .reg .b32 %i, %value;
  ld.param.u64 %address, [data];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %offset, %i, 4;
  add.s64 %address, %address, %offset;
  .loc 1 7 0
  ld.global.b32 { %value }, [%address];
  add.s32 %value, %value, 1;
  .loc 1 8 0
  st.global.b32 [%address], { %value };
  ret;
}
.file 1 "kernel.py"
'''

# Each block writes its element, and then, after a barrier of the grid or not, reads that of the next block.
NEXT = HEAD + '''
.extern .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry next(.param .u64 data, .param .u64 to)
{
  .reg .b64 %data, %to, %offset, %handle;
  .reg .b32 %block, %blocks, %value, %one, %zero, %thread;
  .reg .pred %is_other, %is_last;
  ld.param.u64 %data, [data];
  ld.param.u64 %to, [to];
  mov.u32 %block, %ctaid.x;
  mov.u32 %blocks, %nctaid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %offset, %block, 4;
  add.s64 %to, %to, %offset;
  add.s64 %offset, %data, %offset;
  setp.ne.u32 %is_other, %thread, 0;
  @!%is_other st.global.u32 [%offset], %block;
  SYNCHRONIZE
  @%is_other ret;
  add.u32 %value, %block, 1;
  setp.eq.u32 %is_last, %value, %blocks;
  @%is_last mov.u32 %value, 0;
  mul.wide.u32 %offset, %value, 4;
  add.s64 %offset, %data, %offset;
  ld.global.u32 %value, [%offset];
  st.global.u32 [%to], %value;
  ret;
}
'''
GRID_BARRIER = '''
  {
    .param .b32 scope;
    .param .b64 handle;
    mov.u32 %one, 1;
    st.param.b32 [scope], %one;
    call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
    ld.param.b64 %handle, [handle];
  }
  {
    .param .b64 handle;
    .param .b32 flags;
    .param .b32 result;
    mov.u32 %zero, 0;
    st.param.b64 [handle], %handle;
    st.param.b32 [flags], %zero;
    call.uni (result), cudaCGSynchronize, (handle, flags);
    ld.param.b32 %zero, [result];
  }
'''


def run(text, command=(RUNG, "python"), **variables):
    """Output, messages and exit code of a program."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "script.py")
        script.write_text(BEGIN + textwrap.dedent(text))
        environment = {**os.environ, "RUNG_PYTHON_PROGRAM": sys.executable, "NO_COLOR": "1", **variables}
        done = subprocess.run([*command, script], capture_output=True, text=True, cwd=folder, env=environment)
    return done.stdout, done.stderr, done.returncode


class LibCuda(unittest.TestCase):
    def test_exports_only_the_drivers_calls(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", FOLDER / "libcuda.so.1"], capture_output=True, text=True,
                                check=True).stdout
        names = [line.split()[-1].partition("@")[0] for line in listed.splitlines()]
        self.assertIn("cuLaunchKernel", names)
        self.assertEqual([name for name in names if not (name.startswith("cu") and name[2].isupper())], [])

    def test_runs_a_kernel(self):
        out, err, code = run(f'''
            pointer, memory = numbers(range(64))
            launch({ADD!r}, b"add", 1, 64, pointer)
            print(list(memory) == list(range(1, 65)))
            check(cuda.cuMemFree_v2(pointer))
        ''')
        self.assertEqual((out, code), ("True\n", 0), err)
        self.assertRegex(err, r"add +1 +64")

    def test_gives_its_own_functions_by_name(self):
        out, err, code = run('''
            found, status, version = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
            for name in (b"cuDriverGetVersion", b"cuGetProcAddress"):
                check(cuda.cuGetProcAddress_v2(name, ctypes.byref(found), 12000, ctypes.c_uint64(0), ctypes.byref(status)))
                assert found.value and status.value == 0
            check(cuda.cuGetProcAddress_v2(b"cuDriverGetVersion", ctypes.byref(found), 12000, ctypes.c_uint64(0), None))
            check(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(found.value)(ctypes.byref(version)))
            print(version.value >= 12000)
            table = ctypes.c_void_p(1)
            assert cuda.cuGetExportTable(ctypes.byref(table), bytes(16)) != 0 and not table.value
            print(cuda.cuGetProcAddress_v2(b"cuNoSuchCall", ctypes.byref(found), 12000, ctypes.c_uint64(0), None) != 0)
        ''')
        self.assertEqual((out, code), ("True\nTrue\n", 0), err)

    HAZARD = f'''
        pointer, memory = numbers(range(32))
        launch({ADD!r}, b"add", 1, 64, pointer)
    '''

    def test_hazards_name_the_line_and_fail_the_program(self):
        out, err, code = run(self.HAZARD)
        self.assertNotEqual(code, 0)
        self.assertRegex(err, "out of bounds: read .* at kernel.py:7")

    def test_a_program_without_rung_reports_at_its_end(self):
        out, err, code = run(self.HAZARD, (sys.executable,), LD_LIBRARY_PATH=str(FOLDER))
        self.assertRegex(err, "out of bounds: read .* at kernel.py:7")
        race = NEXT.replace("SYNCHRONIZE", "")
        out, err, code = run(self.next_of(race), (sys.executable,), LD_LIBRARY_PATH=str(FOLDER),
                             RUNG_EMU_ERROR_EXITCODE="9")
        self.assertEqual((out, code), ("done\n", 9), err)

    def test_linked_texts_keep_their_lines(self):
        other = ADD.replace("add(", "other(").replace('1 "kernel.py"', '1 "other.py"').replace(".loc 1 7", ".loc 1 9")
        out, err, code = run(f'''
            state, linked, size = ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_size_t()
            check(cuda.cuLinkCreate_v2(0, None, None, ctypes.byref(state)))
            for text in ({ADD.encode()!r}, {other.encode()!r}):
                check(cuda.cuLinkAddData_v2(state, 1, text, ctypes.c_size_t(len(text)), b"", 0, None, None))
            check(cuda.cuLinkComplete(state, ctypes.byref(linked), ctypes.byref(size)))
            pointer, memory = numbers(range(32))
            launch(linked.value.decode(), b"other", 1, 64, pointer)
        ''')
        self.assertRegex(err, "out of bounds: read .* at other.py:9")

    @staticmethod
    def next_of(text):
        return f'''
            data, memory = numbers([-1] * 8)
            to, result = numbers([-1] * 8)
            launch({text!r}, b"next", 8, 64, data, to, call=cuda.cuLaunchCooperativeKernel, end=())
            print("right" if {"cudaCGSynchronize, (" in text} and list(result) == [1, 2, 3, 4, 5, 6, 7, 0] else "done")
        '''

    def test_a_cooperative_grid_waits_for_all_its_blocks(self):
        out, err, code = run(self.next_of(NEXT.replace("SYNCHRONIZE", GRID_BARRIER)))
        self.assertEqual((out, code), ("right\n", 0), err)
        out, err, code = run(self.next_of(NEXT.replace("SYNCHRONIZE", "")))
        self.assertEqual((out, code), ("done\n", 1), err)
        self.assertIn("global-memory race", err)

    def test_arguments_and_exit_codes_are_the_programs(self):
        out, err, code = run("import sys; print(sys.argv[1:]); sys.exit(7)", (RUNG, "python", "--gpu", "a100"))
        self.assertEqual((out, code), ("[]\n", 7), err)
        done = subprocess.run([RUNG, "python", "-c", "import sys; print(sys.argv)", "--gpu", "-x"], capture_output=True,
                              text=True, env={**os.environ, "RUNG_PYTHON_PROGRAM": sys.executable})
        self.assertEqual((done.stdout, done.returncode), ("['-c', '--gpu', '-x']\n", 0), done.stderr)
        done = subprocess.run([RUNG, "python"], capture_output=True, text=True)
        self.assertEqual((done.stderr.count("\n"), done.returncode), (1, 2), done.stderr)

    def test_a_systems_own_sitecustomize_runs_too(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sitecustomize.py").write_text("print('own')")
            out, err, code = run("", PYTHONPATH=folder)
        self.assertEqual((out, code), ("own\n", 0), err)

    def test_ptxas_passes_ptx_through(self):
        with tempfile.TemporaryDirectory() as folder:
            given, made = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "k.cubin")
            given.write_text(ADD)
            subprocess.run([FOLDER / "ptxas", "-lineinfo", "-v", "--gpu-name=sm_90a", given, "-o", made], check=True)
            self.assertEqual(made.read_text(), ADD)
        version = subprocess.run([FOLDER / "ptxas", "--version"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(version, r"release \d+\.\d+")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
