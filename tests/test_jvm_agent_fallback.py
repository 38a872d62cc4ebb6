"""Java frames from AsyncGetCallTrace: if requested, and if the JVM's layout is unknown."""

import subprocess
import time

import pytest

import jvm
from test_jvm_agent_jfr import events, methods

# An agent that is loaded before ours and reports a wrong offset for the field that its option names:
# "Method._constMethod".
SPOILER = r"""
    #include <dlfcn.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>

    static uint64_t number(void *library, const char *name) { return *(const uint64_t *)dlsym(library, name); }

    int Agent_OnLoad(void *machine, char *options, void *reserved)
    {
        void *library = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
        char *entry = (char *)number(library, "gHotSpotVMStructs");
        uint64_t type = number(library, "gHotSpotVMStructEntryTypeNameOffset");
        uint64_t field = number(library, "gHotSpotVMStructEntryFieldNameOffset");
        uint64_t offset = number(library, "gHotSpotVMStructEntryOffsetOffset");
        uint64_t stride = number(library, "gHotSpotVMStructEntryArrayStride");
        char name[256];
        for (; *(char **)(entry + type) != NULL; entry += stride)
            if (snprintf(name, sizeof(name), "%s.%s", *(char **)(entry + type), *(char **)(entry + field)) > 0 &&
                strcmp(name, options) == 0) {
                mprotect((void *)((uintptr_t)entry & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE);
                *(uint64_t *)(entry + offset) += 8;
            }
        return 0;
    }
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Shares", "Doomed")


@pytest.fixture(scope="module")
def spoiler(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spoiler")
    (folder / "spoiler.c").write_text(SPOILER)
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-include", "stddef.h", "-o", folder / "libspoiler.so",
                    folder / "spoiler.c", "-ldl"], check=True)
    return folder / "libspoiler.so"


@pytest.mark.parametrize("version", ["17", "25"])
def test_a_layout_that_is_not_understood(version, classes, spoiler, tmp_path):
    """Logged in one line; methods and their callers have names nevertheless."""
    path = tmp_path / "out.jfr"
    done = jvm.run_java(jvm.home_of(version), classes, f"start,event=ctimer,interval=1ms,file={path}", "Shares", 500,
                        options=[f"-agentpath:{spoiler}=Method._constMethod"])
    lines = [line for line in done.stderr.splitlines() if "AsyncGetCallTrace" in line]
    assert len(lines) == 1 and lines[0].startswith("[WARN] Java frames come from AsyncGetCallTrace: "), done.stderr
    stacks = [methods(sample) for sample in events(path, "jdk.ExecutionSample", depth=40)]
    assert any(stack[-1] == "Shares.main" and any(name.startswith("Shares.part") for name in stack) for stack in stacks)


def attach_to_doomed(version, classes, folder, state, options):
    """The agent's log when it is loaded into a JVM whose compiled code is in that state."""
    log = folder / "log.txt"
    command = [jvm.home_of(version) / "bin" / "java", "-XX:+UseSerialGC", "-Xbatch", "-XX:TieredStopAtLevel=1",
               "-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,Doomed$Hot*::*",
               "-XX:CompileCommand=compileonly,Doomed*::step", *options,
               "-cp", str(classes), "Doomed", state]
    with open(folder / "output.txt", "w+", encoding="utf-8") as output:
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT)
        try:
            while "ready" not in (folder / "output.txt").read_text():
                assert program.poll() is None, (folder / "output.txt").read_text()
                time.sleep(0.05)
            subprocess.run([jvm.system_home() / "bin" / "jcmd", str(program.pid), "JVMTI.agent_load", str(jvm.LIBRARY),
                            f'"start,event=ctimer,interval=1ms,file={folder}/out.jfr,log={log}"'],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=jvm.LIMIT_SECONDS, check=True)
            program.communicate(timeout=jvm.LIMIT_SECONDS)
        finally:
            program.kill()
            program.wait()
    assert program.returncode == 0, (folder / "output.txt").read_text()
    return log.read_text()


@pytest.mark.parametrize("version", ["17", "25"])
@pytest.mark.parametrize("state", ["unloaded", "replaced", "both"])
def test_dead_code_is_no_reason_to_doubt(version, state, classes, tmp_path):
    """Methods of unloaded classes and invalidated code, before the agent is loaded."""
    told = attach_to_doomed(version, classes, tmp_path, state, [])
    assert "Profiling started" in told and "AsyncGetCallTrace" not in told, told


@pytest.mark.parametrize("version", ["17", "25"])
def test_a_layout_of_code_that_is_not_understood(version, classes, spoiler, tmp_path):
    """Everything needed for frames is right, only the tables of compiled code are elsewhere."""
    told = attach_to_doomed(version, classes, tmp_path, "alive", [f"-agentpath:{spoiler}=PcDesc._scope_decode_offset"])
    assert "[WARN] Java frames come from AsyncGetCallTrace: " in told and "compiled methods could not be read" in told, told


@pytest.mark.parametrize("agent, native", [("cstack=fp", True), ("cstack=no", False), ("features=agct", True)])
def test_on_request(agent, native, classes, tmp_path):
    """All Java frames look compiled, since the JVM does not report it; native frames are above them, or left out."""
    path = tmp_path / "out.folded"
    jvm.run_java(jvm.home_of("17"), classes, f"start,event=ctimer,interval=1ms,{agent},ann,file={path}", "Shares", 500)
    stacks = [stack for stack, _ in jvm.read_folded(path)]
    main = [stack for stack in stacks if "Shares.main_[j]" in stack]
    assert main and not any("Shares.main_[0]" in stack for stack in stacks)
    others = [frame for stack in main for frame in stack if not frame.endswith("_[j]") and not frame.startswith("[")]
    assert bool(others) == native
