"""Content-Encoding undone under a cap: a small body must not become a large one."""

from __future__ import annotations

import zlib


class TooLarge(Exception):
    """The body is larger than allowed, on the wire or unpacked."""


class BadEncoding(Exception):
    """The body is not what its Content-Encoding says, or was cut short."""


class Unpacker:
    """Feed it the wire's bytes; it keeps at most `max_bytes` unpacked and raises TooLarge for more."""

    def __init__(self, content_encoding: str, *, max_bytes: int) -> None:
        """Raises BadEncoding for anything but identity, gzip and deflate, which is all we ask for."""
        name = content_encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise BadEncoding("unknown content encoding")
        self._packed = name not in ("", "identity")
        self._raw_deflate = name == "deflate"  # RFC 9110 says zlib; some servers send the bare stream
        self._unzip = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._left = max_bytes
        self._wire_left = max_bytes
        self._started = False
        self._head = b""
        self._parts: list[bytes] = []

    def feed(self, data: bytes) -> None:
        self._wire_left -= len(data)
        if self._wire_left < 0:
            raise TooLarge
        if not self._packed:
            self._keep(data)
            return
        while data:
            if self._unzip.eof:  # gzip members may follow each other; padding after the last one is ignored
                data, self._head = self._head + data, b""
                if data == b"\x1f":
                    self._head = data  # half of a member's mark; the rest comes with the next part
                    return
                if not data.startswith(b"\x1f\x8b"):
                    return
                self._unzip = zlib.decompressobj(zlib.MAX_WBITS | 32)
            self._keep(self._inflate(data))
            data = self._unzip.unconsumed_tail or self._unzip.unused_data

    def body(self) -> bytes:
        """The whole body. Raises BadEncoding if the packed stream was cut short."""
        if self._packed and self._started and not self._unzip.eof:
            raise BadEncoding("the packed body was cut short")
        return b"".join(self._parts)

    def _inflate(self, data: bytes) -> bytes:
        first, self._started = not self._started, True
        try:
            return self._unzip.decompress(data, self._left + 1)
        except zlib.error as error:
            if not (first and self._raw_deflate):
                raise BadEncoding("the packed body is damaged") from error
        self._unzip = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._unzip.decompress(data, self._left + 1)
        except zlib.error as error:
            raise BadEncoding("the packed body is damaged") from error

    def _keep(self, part: bytes) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise TooLarge
        self._parts.append(part)
