"""Ctrl-C while a kernel runs on the interpreter or an emulator: KeyboardInterrupt at once, and all works afterwards."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import tessera

np = pytest.importorskip("numpy")

#: Seconds of this process's CPU time from the signal to the exception: other programs that keep the machine busy do not
#: lengthen it. A kernel that is not interrupted takes minutes.
PATIENCE = 5.0

#: o[0] = s after s = 5 * s ^ i for i < n; 2 billion times take minutes by four warps.
SPIN = """
module {
  tt.func public @spin(%o: !tt.ptr<i32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %five = arith.constant 5 : i32
    %last = scf.for %i = %zero to %n step %one iter_args(%s = %zero) -> (i32) : i32 {
      %m = arith.muli %s, %five : i32
      %t = arith.xori %m, %i : i32
      scf.yield %t : i32
    }
    tt.store %o, %last : !tt.ptr<i32>
    tt.return
  }
}
"""
MANY = (1 << 31) - 1


def interrupted(run, signals=1):
    """Seconds of CPU time from a SIGINT to the KeyboardInterrupt that `run` raises; further signals come while it ends.
    A signal that comes before the launch has begun is without effect: there is another one until it has ended."""
    begun, ended = [], threading.Event()

    def work():
        while not ended.wait(0.3):
            begun.append(time.process_time())
            for _ in range(signals):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.001)

    def handler(signum, frame):
        """Python's own, but for signals that come after the call."""
        while frame is not None:
            if frame.f_code.co_name == "call_interruptibly":
                raise KeyboardInterrupt
            frame = frame.f_back

    before = signal.signal(signal.SIGINT, handler)
    sender = threading.Thread(target=work)
    sender.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
        return time.process_time() - begun[0]
    finally:
        ended.set()
        sender.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("device", ["interpreter", "emulator:sm_90a", "emulator:gfx942", "emulator:gfx1100"])
@pytest.mark.parametrize("signals", [1, 3])
def test_launches_end(device, signals):
    kernel = tessera.Device(device).compile(SPIN, exact_num_warps=True)
    o = np.ones(4, "i4")
    assert interrupted(lambda: kernel[1](o, MANY), signals) < PATIENCE
    assert interrupted(lambda: kernel.time(1, o, MANY, repetitions=2), signals) < PATIENCE
    # An interrupt ends the launches that run, and none that come later.
    kernel[1](o, 3)
    assert o[0] == 7


def test_many_blocks_end():
    """Between blocks, too: each is short, and all of them take a minute."""
    kernel = tessera.Device("emulator:sm_80").compile(SPIN, exact_num_warps=True)
    o = np.ones(4, "i4")
    assert interrupted(lambda: kernel[(1 << 20, 64, 1)](o, 1)) < PATIENCE


def test_other_handlers_raise():
    """What a handler of another signal raises ends the launch, too; one that raises nothing does not."""

    class Alarm(Exception):
        pass

    def wake(*_):
        raise Alarm

    kernel = tessera.Device("emulator:sm_80").compile(SPIN, exact_num_warps=True)
    o, calls = np.ones(4, "i4"), []
    before = signal.signal(signal.SIGALRM, wake)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Alarm):
            kernel[1](o, MANY)
        signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        kernel[1](o, 10000)
        signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert o[0] and calls


def test_signals_before_the_wait_are_seen(monkeypatch):
    """A signal ends a launch whenever it comes: while the thread is started, or just before the main thread sleeps."""
    from tessera import _library

    class Alarm(Exception):
        pass

    class Library:
        @staticmethod
        def tessera_kernel_interrupt(kernel):
            interrupted.set()

    def wake(*_):
        raise Alarm

    interrupted = threading.Event()
    monkeypatch.setattr(_library, "call", lambda *_: [interrupted.wait(10)][1:])
    monkeypatch.setattr(_library, "library", Library)
    before = signal.signal(signal.SIGALRM, wake)
    try:
        for i in range(200):
            interrupted.clear()
            began = time.monotonic()
            with pytest.raises(Alarm):
                signal.setitimer(signal.ITIMER_REAL, 20e-6 + 2e-6 * i)
                _library.call_interruptibly(None, "launch")
            assert time.monotonic() - began < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_kernels_of_triton_end(tmp_path):
    """The process of a user: ends as Python does after Ctrl-C, without a core."""
    pytest.importorskip("triton")
    script = tmp_path / "spin.py"
    script.write_text(
        textwrap.dedent("""
            import numpy as np, sys, triton, triton.language as tl
            from tessera.triton import emulate

            @triton.jit
            def spin(o, n, m):
                s = tl.zeros((128,), tl.int32)  # work for four warps
                for j in range(m):  # one loop alone is ended, which takes seconds
                    for i in range(n):
                        s = s * 5 ^ i
                tl.store(o, tl.max(s, 0))

            with emulate(sys.argv[1]) as driver:
                o = np.ones(4, "i4")
                spin[(1,)](o, 2, 2)
                driver.on_launch = lambda name: print("begins", flush=True)
                spin[(1,)](o, (1 << 25) - 2, (1 << 25) - 2)
        """)
    )
    for device in ("interpreter", "sm_90a"):
        with subprocess.Popen(
            [sys.executable, str(script), device], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as p:
            assert p.stdout.readline() == "begins\n", p.stderr.read()
            time.sleep(0.5)
            p.send_signal(signal.SIGINT)
            try:
                said = p.communicate(timeout=60)[1]  # Python's own end, too; the kernel takes minutes
            finally:
                p.kill()
            assert p.returncode == -signal.SIGINT and "KeyboardInterrupt" in said, said
