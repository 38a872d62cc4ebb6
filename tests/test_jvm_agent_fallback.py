"""Java frames from AsyncGetCallTrace: when they are asked for, and when the JVM's layout is not understood."""

import subprocess

import pytest

import jvm
from test_jvm_agent_jfr import events, methods

# An agent that is loaded before ours and tells a wrong place for what each frame needs.
SPOILER = r"""
    #include <dlfcn.h>
    #include <stdint.h>
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
        for (; *(char **)(entry + type) != NULL; entry += stride)
            if (strcmp(*(char **)(entry + type), "Method") == 0 && strcmp(*(char **)(entry + field), "_constMethod") == 0) {
                mprotect((void *)((uintptr_t)entry & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE);
                *(uint64_t *)(entry + offset) += 8;
            }
        return 0;
    }
"""


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    return jvm.compile_classes(tmp_path_factory.mktemp("classes"), "Shares")


@pytest.fixture(scope="module")
def spoiler(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spoiler")
    (folder / "spoiler.c").write_text(SPOILER)
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-include", "stddef.h", "-o", folder / "libspoiler.so",
                    folder / "spoiler.c", "-ldl"], check=True)
    return folder / "libspoiler.so"


@pytest.mark.parametrize("version", ["17", "25"])
def test_a_layout_that_is_not_understood(version, classes, spoiler, tmp_path):
    """Said in one line; methods and their callers have their names all the same."""
    path = tmp_path / "out.jfr"
    done = jvm.run_java(jvm.home_of(version), classes, f"start,event=ctimer,interval=1ms,file={path}", "Shares", 500,
                        options=[f"-agentpath:{spoiler}"])
    lines = [line for line in done.stderr.splitlines() if "AsyncGetCallTrace" in line]
    assert len(lines) == 1 and lines[0].startswith("[WARN] Java frames come from AsyncGetCallTrace: "), done.stderr
    stacks = [methods(sample) for sample in events(path, "jdk.ExecutionSample", depth=40)]
    assert any(stack[-1] == "Shares.main" and any(name.startswith("Shares.part") for name in stack) for stack in stacks)


@pytest.mark.parametrize("agent, native", [("cstack=fp", True), ("cstack=no", False), ("features=agct", True)])
def test_on_request(agent, native, classes, tmp_path):
    """All Java frames look compiled, since the JVM does not tell; native ones lie above them, or are left out."""
    path = tmp_path / "out.folded"
    jvm.run_java(jvm.home_of("17"), classes, f"start,event=ctimer,interval=1ms,{agent},ann,file={path}", "Shares", 500)
    stacks = [stack for stack, _ in jvm.read_folded(path)]
    main = [stack for stack in stacks if "Shares.main_[j]" in stack]
    assert main and not any("Shares.main_[0]" in stack for stack in stacks)
    others = [frame for stack in main for frame in stack if not frame.endswith("_[j]") and not frame.startswith("[")]
    assert bool(others) == native
