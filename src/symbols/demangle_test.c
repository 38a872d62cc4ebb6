#include "symbols/demangle.h"

#include <stdio.h>
#include <string.h>

#include "unit_test.h"

static const struct {
    const char *mangled, *full, *name_only;
} names[] = {
    {"main", "main", "main"},
    {"_Z1fv", "f()", "f"},
    {"_ZN9JavaCalls11call_helperEP9JavaValueRK12methodHandleP17JavaCallArgumentsP10JavaThread",
     "JavaCalls::call_helper(JavaValue*, methodHandle const&, JavaCallArguments*, JavaThread*)",
     "JavaCalls::call_helper"},
    {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back(int const&)",
     "std::vector<int, std::allocator<int> >::push_back"},
    {"_ZNSsC1EPKcRKSaIcE",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string(char const*, "
     "std::allocator<char> const&)",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string"},
    {"_ZNK3foo3barEv.constprop.0.cold", "foo::bar() const [clone .constprop.0] [clone .cold]", "foo::bar"},
    {"_Z3mapIiPFvRA5_iEEvT_T0_", "void map<int, void (*)(int (&) [5])>(int, void (*)(int (&) [5]))",
     "map<int, void (*)(int (&) [5])>"},
    {"_Z1gM1AKFvvEMS_i", "g(void (A::*)() const, int A::*)", "g"},
    {"_ZN1AcvT_IiEEv", "A::operator int<int>()", "A::operator int<int>"},
    {"_Z1hIJidEEvDpOT_", "void h<int, double>(int&&, double&&)", "h<int, double>"},
    {"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const", "main::{lambda()#1}::operator()"},
    {"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f()", "(anonymous namespace)::f"},
    {"_ZTV3Foo", "vtable for Foo", "vtable for Foo"},
    {"_ZThn16_N3Foo3barEv", "non-virtual thunk to Foo::bar()", "non-virtual thunk to Foo::bar"},
    {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
     "core::fmt::Formatter::pad"},
    {"_ZN54_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE",
     "_ZN54_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE",
     "_ZN54_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE"},
    {"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE",
     "<alloc::string::String as core::fmt::Write>::write_str",
     "<alloc::string::String as core::fmt::Write>::write_str"},
    {"_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo"},
    {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>", "std::mem::align_of::<f64>"},
    {"_RNCNvCs1_1a1bs_0", "a::b::{closure#1}", "a::b::{closure#1}"},
    {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
     "utf8_idents::საჭმელად_გემრიელი_სადილი", "utf8_idents::საჭმელად_გემრიელი_სადილი"},
    {"_Z", "_Z", "_Z"},
    {"_ZN", "_ZN", "_ZN"},
    {"_Z99999999999999999999f", "_Z99999999999999999999f", "_Z99999999999999999999f"},
    {"_R", "_R", "_R"},
};

TEST(turns_known_names)
{
    char text[512];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        bool changed = demangle(names[i].mangled, DEMANGLE_FULL, text, sizeof(text));
        CHECK_TEXT(text, names[i].full);
        CHECK_INT(changed, strcmp(names[i].mangled, names[i].full) != 0);
        demangle(names[i].mangled, DEMANGLE_NAME_ONLY, text, sizeof(text));
        CHECK_TEXT(text, names[i].name_only);
    }
}

TEST(keeps_the_name_when_the_buffer_is_too_small)
{
    char text[8];
    CHECK(!demangle("_ZN9JavaCalls11call_helperEv", DEMANGLE_FULL, text, sizeof(text)));
    CHECK_TEXT(text, "_ZN9Jav");
    CHECK(!demangle("_Z1fv", DEMANGLE_FULL, text, 1));
    CHECK_TEXT(text, "");
    CHECK(!demangle("_Z1fv", DEMANGLE_FULL, text, 0));
}

/* The text ends, and is the name itself where that was refused. */
static void check_demangled(const char *name)
{
    static char text[512];
    memset(text, 'x', sizeof(text));
    bool changed = demangle(name, DEMANGLE_FULL, text, sizeof(text));
    CHECK(memchr(text, '\0', sizeof(text)) != NULL);
    if (!changed)
        CHECK_TEXT(text, name);
}

/* Every cut of a name must be refused or understood, without a crash (run with sanitizers to see more). */
TEST(survives_names_that_are_cut_or_damaged)
{
    char name[512];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i].mangled);
        for (size_t cut = 0; cut < length; cut++) {
            memcpy(name, names[i].mangled, cut);
            name[cut] = '\0';
            check_demangled(name);
            snprintf(name, sizeof(name), "%s", names[i].mangled);
            for (const char *byte = "EINSTZ0_DpLX"; *byte != '\0'; byte++) {
                name[cut] = *byte;
                check_demangled(name);
            }
        }
    }
}

TEST(gives_up_on_names_that_grow_without_end)
{
    static char name[4096], text[4096];
    memset(name, 'P', 1500);
    memcpy(name, "_Z1f", 4);
    CHECK(!demangle(name, DEMANGLE_FULL, text, sizeof(text)));
    int length = snprintf(name, sizeof(name), "_Z1fI1aE");
    for (int i = 0; i < 200; i++)
        length += snprintf(name + length, sizeof(name) - (size_t)length, "S_S_IS_S_E");
    demangle(name, DEMANGLE_FULL, text, sizeof(text));
}

/* c++filt (binutils) must agree on every name of the C++ library that the compiler brings. */
TEST(agrees_with_cxxfilt_on_libstdcxx)
{
    FILE *stream = popen("library=$(${CC:-gcc} -print-file-name=libstdc++.so.6); names=$(mktemp); "
                         "nm -D --defined-only $library | "
                         "awk '{ sub(/@.*/, \"\", $NF); print $NF }' | grep ^_Z > $names; "
                         "c++filt -i < $names | paste -d ' ' $names -; rm -f $names",
                         "r");
    static char line[65536], text[65536];
    unsigned count = 0;
    while (fgets(line, sizeof(line), stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *expected = strchr(line, ' ');
        CHECK(expected != NULL);
        *expected++ = '\0';
        demangle(line, DEMANGLE_FULL, text, sizeof(text));
        CHECK_TEXT(text, expected);
        count++;
    }
    pclose(stream);
    CHECK(count > 1000);
}
