#include <stdlib.h>

#include "formats/format_test.h"

#define PAGE \
    "\tfunction f(key, level, left, width, inln, c1, int) {}\nconst cpool = [\n'all',\n' a',\n'!b'\n];\n"

TEST(reads_pages_with_a_table_of_names)
{
    format_test_check_data("async_html/version_4.html",
                           "samples 40/40 demo/Job.main_[j];demo/Job.read_[j];__read;vfs_read_[k]\n"
                           "samples 20/20 demo/Job.main_[j];demo/Job.read_[j]\n"
                           "samples 30/30 demo/Job.main_[j];demo/Job.toString_[i]\n"
                           "samples 10/10 demo/Job.main_[j];it's\\odd\n");
}

TEST(reads_pages_of_old_versions)
{
    format_test_check_data("async_html/version_2.html",
                           "samples 10/10 demo/Job.main_[j];demo/Job.work_[i];vfs_read_[k]\n"
                           "samples 40/40 demo/Job.main_[j];demo/Job.work_[i]\n"
                           "samples 30/30 demo/Job.main_[j];Compile::run(int, char's)\n"
                           "samples 10/10 demo/Job.main_[j]\n"
                           "samples 10/10 __read\n");
}

TEST(leaves_differences_and_units_in_order)
{
    format_test_check("async_html",
                      TEXT("\tconst units = 'bytes';\n" PAGE "d=5\nf(3,0,0,100)\nd=U\nu(9)\n\nsearch();\n"),
                      "alloc 100/1 a_[j]\n");
}

TEST(says_when_a_page_is_cut_off)
{
    format_test_check("async_html", TEXT(PAGE "f(3,0,0,100)\nu(9,70)\n"),
                      "samples 70/70 a_[j]\nsamples 30/30 [left out]\n");
    CHECK_TEXT(format_test_notices, "the page is cut off: its last boxes are missing\n");
}

TEST(refuses_broken_pages)
{
    CHECK_TEXT(format_test_error("async_html", TEXT("<html>\n")),
               "line 1: the page ends without a flame graph");
    CHECK_TEXT(format_test_error("async_html", TEXT(PAGE "u(9,1)\n")), "line 7: a box without one below it");
    CHECK_TEXT(format_test_error("async_html", TEXT(PAGE "f(3,0,0,9)\nf(9,2,0,9)\n")),
               "line 8: a box without one below it");
    CHECK_TEXT(format_test_error("async_html", TEXT(PAGE "f(300,0,0,9)\n")),
               "line 7: a call without a name that is in the table");
    CHECK_TEXT(format_test_error("async_html", TEXT(PAGE "f(3,0)\n")),
               "line 7: a call without a name that is in the table");
    CHECK_TEXT(format_test_error("async_html", TEXT(PAGE "f(3,0,x,9)\n")), "line 7: a broken call");
    CHECK_TEXT(format_test_error("async_html", TEXT(PAGE "f(3,0,0,9\n")), "line 7: a broken call");
    CHECK_TEXT(format_test_error("async_html", TEXT(PAGE "f(3,0,0,9)\nu(9,10)\nn(17,10)\nsearch();\n")),
               "a box is narrower than those above it");
    CHECK_TEXT(format_test_error("async_html", TEXT("const cpool = [\n'all',\n'9x'\n")),
               "line 3: a broken name in the table of names");
    CHECK_TEXT(format_test_error("async_html", TEXT("const cpool = [\n'all\n")),
               "line 2: a broken table of names");
    CHECK_TEXT(format_test_error("async_html", TEXT("f(0,0,9,4,'all')\nf(1,0,9,4,'x'\n")),
               "line 2: a broken call");
}
