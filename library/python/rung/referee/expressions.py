"""Integer expressions of a task's sizes, such as "cdiv(m, 16)", in tasks and launch lines."""

import ast
import operator

_BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
           ast.Div: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift,
           ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_}
_COMPARED = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
             ast.Eq: operator.eq, ast.NotEq: operator.ne}
_FUNCTIONS = {"cdiv": lambda a, b: -(-a // b), "min": min, "max": max, "abs": abs,
              "pow2": lambda a: 1 << max(0, a - 1).bit_length()}  # the next power of two


class ExpressionError(ValueError):
    """An expression that is no arithmetic on known names."""


def evaluate(text, names):
    """The value of `text`, an int, a float or a tuple of them.

    Parameters
    ----------
    text : str or number
    names : mapping of str to number
        The only names that the expression may use, with cdiv, min, max, abs and pow2.
    """
    if not isinstance(text, str):
        return text
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, TypeError, ZeroDivisionError, KeyError) as error:
        known = ", ".join([*names, *_FUNCTIONS])
        what = f"unknown name {error}" if isinstance(error, KeyError) else str(error)
        raise ExpressionError(f"'{text}': {what}; expected arithmetic on {known}") from None


def _value(node, names):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Tuple):
        return tuple(_value(each, names) for each in node.elts)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, names)
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, names) else node.orelse, names)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        return _COMPARED[type(node.ops[0])](_value(node.left, names), _value(node.comparators[0], names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _FUNCTIONS[node.func.id](*(_value(each, names) for each in node.args))
    raise TypeError(f"{type(node).__name__} is not allowed")
