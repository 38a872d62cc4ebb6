#!/usr/bin/env python3
"""check_async_safe.py BUILD: what a signal handler can reach lives in *_async_safe.c; such a file may call only functions
that are safe there: those listed below, and those of other *_async_safe.c files."""

import pathlib
import re
import subprocess
import sys

# signal-safety(7), and functions of libc that only touch their arguments.
SAFE = set("""
_exit access clock_gettime close dup dup2 fcntl fstat fsync getpid gettid getppid getuid lseek mmap munmap open openat pipe poll
pread pwrite raise read readlink sem_post sigaction sigaddset sigdelset sigemptyset sigfillset sigismember sigprocmask
pthread_sigmask sigsetjmp siglongjmp stat syscall time timer_getoverrun timer_settime write ioctl process_vm_readv sched_getcpu pthread_self
pthread_getspecific __ehdr_start _end
memchr memcmp memcpy memmove memset strchr strcmp strlen strncmp strnlen strrchr rawmemchr memmem
__errno_location __stack_chk_fail _GLOBAL_OFFSET_TABLE_ __tls_get_addr __sigsetjmp __longjmp_chk _setjmp longjmp abort
__memcpy_chk __memset_chk __memmove_chk __read_chk __pread_chk
""".split())


# Atomic operations, which GCC calls on aarch64: they use the processor's instructions, whichever it has.
ATOMIC = re.compile(r"__aarch64_(cas|swp|ldadd|ldset|ldclr|ldeor)[1248]_(relax|acq|rel|acq_rel)")


def undefined(path):
    output = subprocess.run(["nm", "-u", str(path)], capture_output=True, check=True, text=True,
                            stdin=subprocess.DEVNULL).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()}


def defined(path):
    output = subprocess.run(["nm", "--defined-only", str(path)], capture_output=True, check=True, text=True,
                            stdin=subprocess.DEVNULL).stdout
    return {line.split()[-1] for line in output.splitlines() if line.strip()}


def main():
    objects = sorted(path for path in pathlib.Path(sys.argv[1]).rglob("*_async_safe.c.o"))
    ours = set().union(*map(defined, objects))
    bad = 0
    for path in objects:
        for name in sorted(undefined(path) - SAFE - ours):
            if ATOMIC.fullmatch(name):
                continue
            print(f"{path.name}: calls {name}, which is not safe in a signal handler")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
