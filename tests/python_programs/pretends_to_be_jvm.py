"""Looks like a JVM to an attaching command, and attacks it: pretends_to_be_jvm.py LIBJVM FOLDER USER MODE [VICTIM]

Runs as USER in the root FOLDER ("/": the machine's). MODE silent: never answers. MODE swaps: replaces the folder that the
command has created for the answer by a link to the folder VICTIM outside. MODE tells: only prints each request. MODE records: the
same, and answers as an agent does while a recording runs. MODE trickles: answers with a byte now and then, for ever.
"""

import contextlib
import ctypes
import os
import signal
import socket
import sys
import time


def swap_folder(victim):
    for name in os.listdir("/tmp"):
        if name.startswith(".sparkflame-"):
            os.rename(f"/tmp/{name}", "/tmp/moved")
            os.symlink(victim, f"/tmp/{name}")


def reply(request):
    """As the agent replies while another tool records: 0, or its number for an error."""
    path = request.partition(b",reply=")[2].partition(b"\0")[0]
    is_view = b"view=" in request
    with open(path, "wb") as file:
        file.write(b"interval=10000000\n" if is_view else b"Profiler already started")
    return 0 if is_view else 200


def trickle(connection):
    with contextlib.suppress(ConnectionError):
        while True:
            connection.sendall(b"0")
            time.sleep(0.05)


def main(library, folder, user, mode, victim=None):
    ctypes.CDLL(library)
    signal.signal(signal.SIGQUIT, lambda number, frame: None)
    os.chroot(folder)
    os.chdir("/")
    path = f"/tmp/.java_pid{os.getpid()}"
    with contextlib.suppress(FileNotFoundError):  # a JVM that had this number and was killed
        os.unlink(path)
    os.setgid(int(user))
    os.setuid(int(user))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    try:
        while True:
            connection = listener.accept()[0]
            request = connection.recv(65536)
            if mode == "swaps":
                swap_folder(victim)
                connection.sendall(b"0\nreturn code: 0\n")
                connection.close()
            elif mode == "tells":
                print(request, flush=True)
                connection.sendall(b"0\nreturn code: 0\n")
                connection.close()
            elif mode == "records":
                code = reply(request)
                print(request, flush=True)
                connection.sendall(b"0\nreturn code: %d\n" % code)
                connection.close()
            elif mode == "trickles":
                trickle(connection)
                connection.close()
            else:
                signal.pause()
    finally:
        os.unlink(path)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    main(*sys.argv[1:])
