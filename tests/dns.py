"""A DNS server on loopback that answers TXT from a table: dnspython's own messages over a real socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping, Sequence
from typing import Self

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
from dns import asyncresolver

HOST = "127.0.0.1"


class Names:
    """`records`: name -> its TXT records; every other name does not exist. `mute` never answers."""

    def __init__(self, records: Mapping[str, Sequence[str]], *, mute: bool = False) -> None:
        self.records, self.mute = records, mute

    def __enter__(self) -> Self:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((HOST, 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bell:
            bell.sendto(b"", (HOST, self.port))
        self._thread.join(10)
        self._socket.close()

    def resolver(self) -> asyncresolver.Resolver:
        """A resolver that asks this server and nobody else."""
        made = asyncresolver.Resolver(configure=False)
        made.nameservers, made.port = [HOST], self.port
        return made

    def _serve(self) -> None:
        while True:
            data, sender = self._socket.recvfrom(4096)
            if not data:
                return
            if self.mute:
                continue
            question = dns.message.from_wire(data)
            name = question.question[0].name
            answer = dns.message.make_response(question)
            answer.flags |= dns.flags.RA
            found = self.records.get(name.to_text(omit_final_dot=True))
            if found is None:
                answer.set_rcode(dns.rcode.NXDOMAIN)
            elif found:
                quoted = ['"' + record.replace('"', '\\"') + '"' for record in found]
                answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", *quoted))
            self._socket.sendto(answer.to_wire(), sender)
