/* host_worker FILE: four kinds of work in turn until it is killed, of which the last writes to the disk. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 20000
#define ROUNDS 1000
#define FILE_BYTES ((off_t)64 << 20)

static uint32_t numbers[COUNT], copy[COUNT];

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

__attribute__((noinline)) static uint64_t digest_records(void)
{
    uint64_t sum = 14695981039346656037u;
    for (int round = 0; round < 40; round++)
        for (size_t i = 0; i < COUNT; i++)
            sum = (sum ^ numbers[i]) * 1099511628211u;
    return sum;
}

__attribute__((noinline)) static uint64_t order_records(void)
{
    memcpy(copy, numbers, sizeof(copy));
    qsort(copy, COUNT, sizeof(*copy), compare);
    return copy[COUNT / 2];
}

__attribute__((noinline)) static uint64_t parse_records(void)
{
    uint64_t fields = 0;
    for (int round = 0; round < 10; round++)
        for (size_t i = 0; i < sizeof(numbers); i++)
            fields += ((const unsigned char *)numbers)[i] == ' ';
    return fields;
}

__attribute__((noinline)) static void store_records(int file)
{
    if (pwrite(file, numbers, sizeof(numbers), (off_t)(numbers[0] % (FILE_BYTES - (off_t)sizeof(numbers)))) <
            0 ||
        fdatasync(file) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    int file = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0)
        return 1;
    for (uint32_t seed = 1;;) {
        for (size_t i = 0; i < COUNT; i++)
            numbers[i] = seed = seed * 1664525u + 1013904223u;
        for (int round = 0; round < ROUNDS; round++)
            numbers[1] ^= (uint32_t)(digest_records() + order_records() + parse_records());
        store_records(file);
    }
}
