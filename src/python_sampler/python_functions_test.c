#include "python_sampler/python_functions.h"

#include "unit_test.h"

TEST(equal_functions_share_a_number)
{
    struct python_functions functions;
    CHECK(python_functions_init(&functions));
    uint32_t first = python_functions_add(&functions, TEXT("main"), TEXT("a.py"), 3);
    uint32_t other_line = python_functions_add(&functions, TEXT("main"), TEXT("a.py"), 4);
    uint32_t other_file = python_functions_add(&functions, TEXT("main"), TEXT("b.py"), 3);
    CHECK(first != other_line && first != other_file && other_line != other_file);
    CHECK_INT(python_functions_add(&functions, TEXT("main"), TEXT("a.py"), 3), first);
    CHECK(text_equal(python_function_name(&functions, other_file), TEXT("main")));
    CHECK(text_equal(python_function_file(&functions, other_file), TEXT("b.py")));
    python_functions_release(&functions);
}
