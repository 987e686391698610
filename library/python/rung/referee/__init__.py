"""rung.referee: is a kernel that somebody else wrote right for every shape, free of races, and honest?

>>> import rung.referee
>>> text = '''
... // referee: launch add grid=cdiv(n, 256) block=256
... __global__ void add(const float* x, const float* z, float* y, int n) {
...   int i = blockIdx.x * 256 + threadIdx.x;
...   if (i < n) y[i] = x[i] + z[i];
... }'''
>>> rung.referee.judge(text, {"operation": "add", "hidden": 4}).verdict
'right'
>>> rung.referee.judge(text.replace("if (i < n)", ""), {"operation": "add", "hidden": 4}).rules()
['out-of-bounds']
"""

from .candidate import CandidateError
from .checks import Finding
from .judge import judge
from .operations import Array, Operation
from .task import Task, TaskError, own_operation
from .task import read as read_task
from .verdict import Verdict

__all__ = ["Array", "CandidateError", "Finding", "Operation", "Task", "TaskError", "Verdict", "judge", "own_operation",
           "read_task"]
