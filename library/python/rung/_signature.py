"""inspect.signature of the extension's functions."""


def signature_of(function):
    """The inspect.Signature of a function of nanobind, from the first line of its text."""
    import ast
    import inspect

    try:
        declaration = function.__doc__.partition("\n")[0]
        (parsed,) = ast.parse(f"def {declaration}: ...").body
    except (AttributeError, SyntaxError, ValueError):
        raise AttributeError("__signature__") from None  # a function of another package, with another text
    given = parsed.args
    required = len(given.args) - len(given.defaults)
    fields = [(each, inspect.Parameter.POSITIONAL_OR_KEYWORD, given.defaults[i - required] if i >= required else None)
              for i, each in enumerate(given.args)]
    fields += [(each, inspect.Parameter.KEYWORD_ONLY, default) for each, default in zip(given.kwonlyargs, given.kw_defaults)]
    parameters = [
        inspect.Parameter(each.arg, kind, default=inspect.Parameter.empty if value is None else ast.literal_eval(value),
                          annotation=ast.unparse(each.annotation) if each.annotation else inspect.Parameter.empty)
        for each, kind, value in fields]
    return inspect.Signature(parameters, return_annotation=ast.unparse(parsed.returns))
