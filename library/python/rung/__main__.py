"""python -m rung"""

from ._command import main

main()
