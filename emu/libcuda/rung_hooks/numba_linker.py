"""Numba's linker, which makes machine code of PTX: here the result is PTX."""

from . import driver


def prepare(module):
    """`module` is numba.cuda.cudadrv.driver."""
    of_linker = getattr(module, "_Linker", None)
    if of_linker is None:
        return  # an earlier Numba links by the driver, which gives PTX

    def complete(self):
        # The virtual GPU has the functions of cudadevrt, the one library that Numba adds.
        self._object_codes = [each for each in self._object_codes if each.code_type != "library"]
        if self._has_ltoir:
            return module.ObjectCode.from_ptx(self.get_linked_ptx())
        codes = [each.code for each in self._object_codes]
        self.linker, self._complete, self._info_log, self._error_log = driver, True, "", ""
        return module.ObjectCode.from_ptx(codes[0] if len(codes) == 1 else driver.link(codes))

    of_linker.complete = complete
