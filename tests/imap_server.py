"""A mailbox on loopback for tests: a real socket that speaks as much IMAP (RFC 9051) as a reader needs.

with ImapServer() as box:
    box.deliver(mail)
    box.url, box.commands
"""

from __future__ import annotations

import contextlib
import re
import socketserver
import threading
import time
from typing import Any, Self

LINE_MAX_BYTES = 8192


class ImapServer:
    """`commands` are the words that came in, without tags. `drip_s` is waited between single bytes of a mail."""

    def __init__(self, *, user: str = "ann", password: str = "s3cret", drip_s: float = 0.0) -> None:
        self.login = (user, password)
        self.drip_s = drip_s
        self.validity = 7
        self.mails: dict[int, bytes] = {}
        self.commands: list[str] = []
        self.greeting = b"* OK ready\r\n"
        self._next_uid = 1
        box = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(ConnectionError, ValueError):
                    box.talk(self)

        socketserver.ThreadingTCPServer.daemon_threads = True
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"imap://127.0.0.1:{self.port}/Jobs"

    def deliver(self, mail: bytes) -> int:
        uid, self._next_uid = self._next_uid, self._next_uid + 1
        self.mails[uid] = mail
        return uid

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def talk(self, peer: Any) -> None:
        peer.wfile.write(self.greeting)
        while line := peer.rfile.readline(LINE_MAX_BYTES).decode().strip():
            tag, _, said = line.partition(" ")
            self.commands.append(re.sub(r"^(LOGIN).*", r"\1", said))
            answer = self._answer(peer, said)
            peer.wfile.write(f"{tag} {answer}\r\n".encode())

    def _answer(self, peer: Any, said: str) -> str:
        words = said.split()
        match words[0].upper():
            case "CAPABILITY":
                peer.wfile.write(b"* CAPABILITY IMAP4rev1\r\n")
            case "LOGIN":
                given = tuple(word.strip('"') for word in words[1:])
                return "OK welcome" if given == self.login else "NO who are you"
            case "EXAMINE":
                peer.wfile.write(f"* {len(self.mails)} EXISTS\r\n* OK [UIDVALIDITY {self.validity}] valid\r\n".encode())
                return "OK [READ-ONLY] examined" if words[1] == '"Jobs"' else "NO no such folder"
            case "UID" if words[1].upper() == "SEARCH":
                first = int(words[3].partition(":")[0]) if words[2] == "UID" else 1
                found = [uid for uid in self.mails if uid >= first] or list(self.mails)[-1:]  # n:* names the last
                peer.wfile.write(f"* SEARCH {' '.join(map(str, found))}\r\n".encode())
            case "UID" if "RFC822.SIZE" in said:
                for uid in map(int, words[2].split(",")):
                    peer.wfile.write(f"* 1 FETCH (UID {uid} RFC822.SIZE {len(self.mails[uid])})\r\n".encode())
            case "UID":
                self._send(peer, int(words[2]))
            case _:
                return "BAD what"
        return "OK done"

    def _send(self, peer: Any, uid: int) -> None:
        mail = self.mails.get(uid)
        if mail is None:
            return
        peer.wfile.write(f"* 1 FETCH (UID {uid} BODY[] {{{len(mail)}}}\r\n".encode())
        for byte in mail if self.drip_s else b"":
            peer.wfile.write(bytes([byte]))
            time.sleep(self.drip_s)
        peer.wfile.write(b")\r\n" if self.drip_s else mail + b")\r\n")
