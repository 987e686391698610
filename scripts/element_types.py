"""The dtypes of Rung as parts of identifiers ("bf16_bf16"), from core/element_types.hpp."""

import pathlib
import re

SOURCE = pathlib.Path(__file__).parent.parent / "core/element_types.hpp"

DTYPES = re.findall(r"^ +DTYPE\((\w+), ", SOURCE.read_text(), re.MULTILINE)
