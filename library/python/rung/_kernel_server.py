"""The process that compiles and launches kernels: the program `rung --serve-kernels`.

It is started by the first kernel and ends with this process. A forked process starts its own.
"""

import json
import os
import socket
import struct
import subprocess
import threading

from ._command import PROGRAM
from ._core import UnavailableError

_HEAD = struct.Struct("=IIQ")  # bytes of JSON; 1 if nothing failed and nothing was printed; bytes that follow


class CompileError(RuntimeError):
    """A kernel's source does not compile.

    Attributes
    ----------
    line : int or None
        The line of the source that the first error names.
    """

    line = None


class Server:
    """One process with its socket. One thread at a time uses it, under a lock."""

    def __init__(self):
        ours, theirs = socket.socketpair()
        command = [PROGRAM, "--serve-kernels", str(theirs.fileno())]
        try:
            # A session of its own: Ctrl-C is for this process, which then stops the server.
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                                            start_new_session=True)
        except OSError as error:
            raise UnavailableError(f"rung: {PROGRAM}: {error.strerror}") from None
        finally:
            theirs.close()
        self.socket = ours
        self.lock = threading.Lock()
        self.forgotten, self.forgotten_runs = [], []  # kernels and runs that no object needs any more
        self.owner = os.getpid()

    def ask(self, text, payload, results=()):
        """Sends a request, and fills `results`, writable contiguous arrays. Returns the reply's JSON as bytes, and
        whether nothing failed and nothing was printed."""
        with self.lock:
            try:
                if self.forgotten or len(self.forgotten_runs) > 100:
                    self._forget()
                return self._exchange(text, payload, results)
            except BaseException:  # also KeyboardInterrupt: the other end is in the middle of something
                self.stop()
                raise

    def _exchange(self, text, payload, results):
        self._send(_HEAD.pack(len(text), 0, len(payload)) + text, payload)
        size, quiet, bytes_after = _HEAD.unpack(self._receive(_HEAD.size))
        reply = self._receive(size)
        if bytes_after:
            for result in results:
                self._receive_into(memoryview(result.reshape(-1).view("uint8")))
        return reply, quiet

    def _forget(self):
        kernels, self.forgotten = self.forgotten, []
        runs, self.forgotten_runs = self.forgotten_runs, []
        self._exchange(json.dumps({"forget": kernels, "runs": runs}).encode(), b"", ())

    def _send(self, head, payload):
        try:
            if len(payload) < 1 << 16:
                self.socket.sendall(head + payload)
            else:
                self.socket.sendall(head)
                self.socket.sendall(payload)
        except OSError:
            self._ended()

    def _receive(self, size):
        try:
            data = self.socket.recv(size)
        except OSError:
            self._ended()
        if len(data) == size:
            return data
        whole = bytearray(size)
        whole[:len(data)] = data
        self._receive_into(memoryview(whole)[len(data):])
        return bytes(whole)

    def _receive_into(self, view):
        while len(view):
            try:
                got = self.socket.recv_into(view)
            except OSError:
                got = 0
            if got == 0:
                self._ended()
            view = view[got:]

    def _ended(self):
        code = self.process.wait()
        raise RuntimeError(f"rung: the virtual GPU's process ended with {code}; the next kernel starts a new one")

    def stop(self):
        global _server
        self.process.kill()
        self.process.wait()
        self.socket.close()
        if _server is self:
            _server = None


_server = None
_starting = threading.Lock()


def server():
    """The server of this process."""
    global _server
    found = _server
    if found is None or found.owner != os.getpid():
        with _starting:
            if _server is None or _server.owner != os.getpid():
                _server = Server()
            found = _server
    return found


def _leave_parents_server():
    global _server, _starting
    _starting = threading.Lock()
    if _server is not None:
        _server.socket.close()  # so that it ends when the parent does
        _server = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_parents_server)
