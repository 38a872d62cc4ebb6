#include "native_sampler/namespace_filter.h"

#include <dirent.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/text_view.h"

#define FIRST_PID_NAMESPACE 4026531836U /* PROC_PID_INIT_INO */
#define KERNEL_MINOR_BITS 20

static bool find_own(struct stat *status)
{
    return stat("/proc/self/ns/pid", status) == 0;
}

bool namespace_is_first(void)
{
    struct stat own;
    return find_own(&own) && own.st_ino == FIRST_PID_NAMESPACE;
}

/* Of namespaces below this one only the processes can be seen. */
static bool has_others(const struct stat *own)
{
    char path[64];
    uint64_t number;
    bool found = false;
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; !found && folder != NULL && (entry = readdir(folder)) != NULL;) {
        struct stat its;
        if (!text_to_u64(text_of(entry->d_name), &number))
            continue;
        snprintf(path, sizeof(path), "/proc/%llu/ns/pid", (unsigned long long)number);
        found = stat(path, &its) == 0 && its.st_ino != own->st_ino;
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

#define MOVE(to, number)                                                      \
    {                                                                         \
        .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (number) \
    }
#define LOAD(to, number)                                                                      \
    {.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (to), .imm = (int32_t)(uint32_t)(number)}, \
    {                                                                                         \
        .imm = (int32_t)(uint32_t)((number) >> 32)                                            \
    }
#define EXIT                       \
    {                              \
        .code = BPF_JMP | BPF_EXIT \
    }

/* Returns 1, which keeps the sample, if the helper finds the current process in the namespace. */
static int load(uint64_t device, uint64_t inode)
{
    const struct bpf_insn program[] = {
        LOAD(BPF_REG_1, device),
        LOAD(BPF_REG_2, inode),
        {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_10},
        {.code = BPF_ALU64 | BPF_ADD | BPF_K,
         .dst_reg = BPF_REG_3,
         .imm = -(int)sizeof(struct bpf_pidns_info)},
        MOVE(BPF_REG_4, (int)sizeof(struct bpf_pidns_info)),
        {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_ns_current_pid_tgid},
        {.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 2},
        MOVE(BPF_REG_0, 0),
        EXIT,
        MOVE(BPF_REG_0, 1),
        EXIT,
    };
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.prog_type = BPF_PROG_TYPE_PERF_EVENT;
    attributes.insns = (uint64_t)(uintptr_t)program;
    attributes.insn_cnt = COUNT_OF(program);
    attributes.license = (uint64_t)(uintptr_t) "Apache-2.0";
    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof(attributes));
}

int namespace_filter_open(void)
{
    struct stat own;
    if (!find_own(&own) || own.st_ino == FIRST_PID_NAMESPACE || has_others(&own))
        return -1;
    uint64_t device = (uint64_t)major(own.st_dev) << KERNEL_MINOR_BITS | minor(own.st_dev);
    return load(device, (uint64_t)own.st_ino);
}
