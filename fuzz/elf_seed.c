/*
 * elf_seed.c - is compiled to a small library from which fuzz_elf starts: symbols, a PLT entry, unwind rules.
 */
int outside(int number);
int exported(int number);

static __attribute__((noinline)) int hidden(int number)
{
    volatile char room[64];
    room[number & 63] = 1;
    return outside(number) + room[0];
}

int exported(int number)
{
    return hidden(number) * 3;
}
