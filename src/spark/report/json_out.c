#include "spark/report/json_out.h"

#include "base/json_text.h"
#include "spark/application.h"

void json_out_key(struct json_out *out, const char *name)
{
    output_c_string(out->output, out->is_first ? "\"" : ",\"");
    output_c_string(out->output, name);
    output_c_string(out->output, "\":");
    out->is_first = false;
}

void json_out_number(struct json_out *out, const char *name, int64_t value)
{
    json_out_key(out, name);
    output_i64(out->output, value);
}

void json_out_moment(struct json_out *out, const char *name, int64_t value)
{
    json_out_key(out, name);
    if (value == NO_MS)
        output_c_string(out->output, "null");
    else
        output_i64(out->output, value);
}

void json_out_plain(struct json_out *out, const char *name, const char *value)
{
    json_out_key(out, name);
    json_text_write(out->output, text_of(value));
}

void json_out_text(struct json_out *out, const char *name, uint32_t string)
{
    json_out_key(out, name);
    if (string == 0)
        output_c_string(out->output, "null");
    else
        json_text_write(out->output, string_table_text(out->strings, string));
}

void json_out_flag(struct json_out *out, const char *name, bool value)
{
    json_out_key(out, name);
    output_c_string(out->output, value ? "true" : "false");
}

void json_out_begin(struct json_out *out, size_t index)
{
    output_c_string(out->output, index == 0 ? "\n{" : ",\n{");
    out->is_first = true;
}

void json_out_end(struct json_out *out)
{
    output_byte(out->output, '}');
    out->is_first = false;
}

void json_out_list(struct json_out *out, const char *name)
{
    output_c_string(out->output, out->is_first ? "\n\"" : ",\n\"");
    output_c_string(out->output, name);
    output_c_string(out->output, "\":[");
}

void json_out_end_list(struct json_out *out)
{
    output_byte(out->output, ']');
    out->is_first = false;
}
