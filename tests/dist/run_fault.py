"""Runs dist_faults with a fault that ends a rank, and checks the output of the other two ranks.

    run_fault.py FAULT MPIRUN... PROGRAM

An option makes Open MPI keep the other ranks alive. By default it ends them all, which is checked, too.
"""

import subprocess
import sys

fault, mpirun, program = sys.argv[1], sys.argv[2:-1], sys.argv[-1]
recover = [] if fault == "ends_all" else ["--enable-recovery"]
fault = "dies" if fault == "ends_all" else fault

result = subprocess.run(
    mpirun + recover + [program, fault], capture_output=True, text=True, timeout=300, check=False
)
output = result.stdout + result.stderr
if not recover:
    right = result.returncode != 0 and "signal 9" in output
else:
    right = all(f"rank {rank} is right" in output for rank in (0, 1)) and "is wrong" not in output
print(output)
sys.exit(0 if right else 1)
