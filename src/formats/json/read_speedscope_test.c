#include <stdlib.h>

#include "formats/format_test.h"

#define FRAMES "\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]}"
#define EVENTS(events)                                                                                   \
    "{" FRAMES ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"none\",\"startValue\":0,\"endValue\":9," \
    "\"events\":[" events "]}]}"

TEST(reads_evented_profiles)
{
    format_test_check_data("speedscope/evented.speedscope.json",
                           "samples 9000000/3 main (job.py:3) thread=thread one\n"
                           "samples 3000000/1 main (job.py:3);work thread=thread one\n"
                           "samples 2000000/2 main (job.py:3);read <x> thread=thread one\n"
                           "samples 2000000/1 main (job.py:3);read <x>;work thread=thread one\n");
}

TEST(reads_sampled_profiles_with_frames_at_the_end)
{
    format_test_check_data("speedscope/sampled.speedscope.json",
                           "samples 500000000/1 a (a.c:7) thread=one\n"
                           "samples 3000000000/2 a (a.c:7);b\xc3\xa9 thread=one\n"
                           "samples 3/3 b\xc3\xa9;a (a.c:7) thread=two\n"
                           "samples 3/3 c thread=two\n"
                           "alloc 64/1 c thread=three\n");
}

TEST(keeps_times_on_wish)
{
    struct profile profile;
    struct error error = {0};
    CHECK_OK(error, profile_init(&profile, true, &error));
    CHECK_OK(error,
             format_test_try(&profile, "speedscope",
                             TEXT("{" FRAMES ",\"profiles\":[{\"unit\":\"microseconds\",\"startValue\":5,"
                                  "\"samples\":[[0],[1],[0]],\"weights\":[1,2,3]}]}"),
                             &error));
    CHECK_INT(profile.sample_count, 3);
    CHECK_INT(profile.samples[0].time_ns, 5000);
    CHECK_INT(profile.samples[1].time_ns, 6000);
    CHECK_INT(profile.samples[2].time_ns, 8000);
    profile_release(&profile);
}

TEST(lets_open_frames_last_to_the_end)
{
    format_test_check("speedscope", text_of(EVENTS("{\"type\":\"O\",\"frame\":0,\"at\":1}")),
                      "samples 8/8 a\n");
    CHECK_TEXT(format_test_notices, "some frames never close: they last until their profile's end\n");
}

static const char *error_of(const char *text)
{
    const char *message = format_test_error("speedscope", text_of(text));
    const char *colon = strchr(message, ':');
    return colon == NULL ? message : colon + 2;
}

TEST(refuses_events_out_of_order)
{
    CHECK_TEXT(
        error_of(EVENTS("{\"type\":\"O\",\"frame\":0,\"at\":3},{\"type\":\"C\",\"frame\":0,\"at\":2}")),
        "events that go back in time");
    CHECK_TEXT(
        error_of(EVENTS("{\"type\":\"O\",\"frame\":0,\"at\":3},{\"type\":\"C\",\"frame\":1,\"at\":4}")),
        "a frame closes that was not the last to open");
    CHECK_TEXT(error_of(EVENTS("{\"type\":\"C\",\"frame\":0,\"at\":3}")),
               "a frame closes that was not the last to open");
    CHECK_TEXT(error_of(EVENTS("{\"type\":\"X\",\"frame\":0,\"at\":3}")),
               "an event without type, frame or time");
}

TEST(refuses_broken_files)
{
    CHECK_TEXT(
        error_of("{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0],[2]],\"weights\":[1,1]}]}"),
        "frame 2 is used, but there are only 2");
    CHECK_TEXT(
        error_of("{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0],[1]],\"weights\":[1]}]}"),
        "a profile with as many weights as samples is needed");
    CHECK_TEXT(error_of("{" FRAMES ",\"profiles\":[{\"unit\":\"parsec\"}]}"), "an unknown unit");
    CHECK_TEXT(error_of("{" FRAMES ",\"profiles\":[{\"samples\":[[-1]]}]}"),
               "an impossible index of a frame");
    CHECK_TEXT(error_of("{" FRAMES ",\"profiles\":[{\"samples\":[[0.5]]}]}"),
               "an impossible index of a frame");
    CHECK_TEXT(error_of("{" FRAMES ",\"profiles\":[{\"samples\":[0]}]}"), "expected a stack");
    CHECK_TEXT(error_of("{" FRAMES ",\"profiles\":[{\"weights\":[NaN]}]}"), "a weight that is not finite");
    CHECK_TEXT(error_of("{" FRAMES ",\"profiles\":[{\"samples\":[[0]"), "the JSON ends too early");
    CHECK_TEXT(error_of("[]"), "expected an object");
}
