#!/usr/bin/env python3
"""The functions that a program runs, in the order in which each is first entered, for a linker's symbol ordering.

  function_order.py -o ORDER PROGRAM -- ARGUMENTS [-- ARGUMENTS …]

A short run of a static program of a hundred megabytes enters some thousand functions all over it, and pays a page fault
for nearly each; side by side they are a few dozen pages. Each list of arguments is one run. A copy of the program in
which every function begins with a breakpoint runs under ptrace; a breakpoint is removed when it is first reached.
x86-64 Linux. If anything fails (no ptrace in a container, another machine) the list is empty, and the link is as it
would be without one.
"""
import argparse, collections, ctypes, os, shutil, signal, struct, subprocess, sys, tempfile

TRACEME, PEEKTEXT, POKETEXT, CONT, GETREGS, SETREGS, SETOPTIONS = 0, 1, 4, 7, 12, 13, 0x4200
TRACE_CLONE, EXITKILL = 1 << 3, 1 << 20
RIP = 16 * 8  # offset in user_regs_struct
BREAKPOINT = 0xCC
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, pid, address=0, data=0):
    ctypes.set_errno(0)
    result = libc.ptrace(request, pid, address, data)
    if result == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result & 0xFFFFFFFFFFFFFFFF


def functions(image):
    """The functions of a 64-bit ELF file at a fixed address: address -> names, and address -> place in the file."""
    if image[:5] != b"\x7fELF\x02" or struct.unpack_from("<HH", image, 16) != (2, 62):
        raise OSError("not an x86-64 program at a fixed address")
    section_offset, = struct.unpack_from("<Q", image, 0x28)
    section_size, section_count = struct.unpack_from("<HH", image, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, section_offset + i * section_size)
                for i in range(section_count)]
    names, places = collections.defaultdict(list), {}
    for _, kind, _, _, offset, size, link, _, _, entry in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        strings = sections[link][4]
        for at in range(offset, offset + size, entry):
            name, info, _, section, value, length = struct.unpack_from("<IBBHQQ", image, at)
            if info & 15 != 2 or not 0 < section < section_count or not length:  # STT_FUNC, defined here
                continue
            end = image.index(b"\0", strings + name)
            names[value].append(image[strings + name:end].decode())
            places[value] = value - sections[section][3] + sections[section][4]
    return names, places


def trace(program, image, arguments, places, entered):
    """Runs the program (whose functions begin with breakpoints) and appends the addresses of functions to `entered`."""
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            ptrace(TRACEME, 0)
            os.execv(program, [program] + arguments)
        finally:
            os._exit(127)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSTOPPED(status):
        raise OSError("the program does not let itself be traced")
    ptrace(SETOPTIONS, pid, 0, TRACE_CLONE | EXITKILL)
    registers = ctypes.create_string_buffer(27 * 8)
    ptrace(CONT, pid)
    while True:
        thread, status = os.waitpid(-1, 0x40000000)  # __WALL: threads too
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if thread == pid:
                return status
            continue
        stop = os.WSTOPSIG(status)
        deliver = 0
        if stop == signal.SIGTRAP and status >> 16 == 0:
            ptrace(GETREGS, thread, 0, ctypes.addressof(registers))
            address = struct.unpack_from("<Q", registers, RIP)[0] - 1
            if address not in places:
                raise OSError(f"a breakpoint at {address:#x}, where no function begins")
            word = ptrace(PEEKTEXT, thread, address)
            if word & 0xFF == BREAKPOINT:  # else another thread was first
                ptrace(POKETEXT, thread, address, word & ~0xFF | image[places[address]])
                entered[address] = None
            struct.pack_into("<Q", registers, RIP, address)
            ptrace(SETREGS, thread, 0, ctypes.addressof(registers))
        elif stop not in (signal.SIGTRAP, signal.SIGSTOP):
            deliver = stop
        ptrace(CONT, thread, 0, deliver)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", dest="out", required=True)
    parser.add_argument("program")
    ours, runs = sys.argv[1:], []
    while "--" in ours:
        last = len(ours) - 1 - ours[::-1].index("--")
        runs.insert(0, ours[last + 1:])
        ours = ours[:last]
    options = parser.parse_args(ours)
    entered, names = {}, {}
    with tempfile.TemporaryDirectory(prefix="function_order") as folder:
        copy = os.path.join(folder, "program")
        try:
            with open(options.program, "rb") as f:
                image = f.read()
            names, places = functions(image)
            patched = bytearray(image)
            for place in places.values():
                patched[place] = BREAKPOINT
            with open(copy, "wb") as f:
                f.write(patched)
            shutil.copymode(options.program, copy)
            for arguments in runs:
                status = trace(copy, image, arguments, places, entered)
                if status:
                    raise OSError(f"{' '.join(arguments)}: the program ended with status {status}")
        except OSError as error:
            print(f"the order of functions is left as it is: {error}", file=sys.stderr)
            entered = {}
    with open(options.out, "w") as f:
        f.write("".join(name + "\n" for address in entered for name in names[address]))


main()
