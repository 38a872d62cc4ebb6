#include "render/palette.h"

#include <math.h>

enum palette {
    PALETTE_HOT,
    PALETTE_MEM,
    PALETTE_IO,
    PALETTE_WAKEUP,
    PALETTE_CHAIN,
    PALETTE_JAVA,
    PALETTE_JS,
    PALETTE_PERL,
    PALETTE_PYTHON,
    PALETTE_RUST,
    PALETTE_RED,
    PALETTE_GREEN,
    PALETTE_BLUE,
    PALETTE_AQUA,
    PALETTE_YELLOW,
    PALETTE_PURPLE,
    PALETTE_ORANGE,
    PALETTE_KIND,
};

/* Three numbers from 0 to 1 out of a name; stable, whatever the machine. */
static void name_shades(uint64_t seed, struct text_view name, double shades[3])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001b3);
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ (hash >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
        shades[i] = (double)(hash >> 40) / (double)(1 << 24);
    }
}

static uint8_t shade(double base, double span, double at)
{
    return (uint8_t)(base + span * at);
}

static struct color plain_color(enum palette palette, const double v[3])
{
    switch (palette) {
    case PALETTE_MEM:
        return (struct color){0, shade(190, 50, v[1]), shade(0, 210, v[0])};
    case PALETTE_IO:
        return (struct color){shade(80, 60, v[0]), shade(80, 60, v[0]), shade(190, 55, v[1])};
    case PALETTE_RED:
        return (struct color){shade(200, 55, v[0]), shade(50, 80, v[0]), shade(50, 80, v[0])};
    case PALETTE_GREEN:
        return (struct color){shade(50, 60, v[0]), shade(200, 55, v[0]), shade(50, 60, v[0])};
    case PALETTE_BLUE:
        return (struct color){shade(80, 60, v[0]), shade(80, 60, v[0]), shade(205, 50, v[0])};
    case PALETTE_AQUA:
        return (struct color){shade(50, 60, v[0]), shade(165, 55, v[0]), shade(165, 55, v[0])};
    case PALETTE_YELLOW:
        return (struct color){shade(175, 55, v[0]), shade(175, 55, v[0]), shade(50, 20, v[0])};
    case PALETTE_PURPLE:
        return (struct color){shade(190, 65, v[0]), shade(80, 60, v[0]), shade(190, 65, v[0])};
    case PALETTE_ORANGE:
        return (struct color){shade(190, 65, v[0]), shade(90, 65, v[0]), 0};
    default:
        return (struct color){shade(205, 50, v[2]), shade(0, 230, v[0]), shade(0, 55, v[1])};
    }
}

static bool has(struct text_view name, const char *part)
{
    return text_find(name, text_of(part)) != TEXT_NOT_FOUND;
}

static bool is_java_package(struct text_view name)
{
    static const char *const roots[] = {"java/", "javax/", "jdk/", "net/",  "org/",
                                        "com/",  "io/",    "sun/", "scala/"};
    if (name.size > 0 && name.data[0] == 'L')
        name = text_from(name, 1);
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        if (text_starts_with(name, text_of(roots[i])))
            return true;
    return false;
}

static enum palette java_palette(struct text_view name, enum frame_kind kind)
{
    switch (kind) {
    case FRAME_KERNEL:
        return PALETTE_ORANGE;
    case FRAME_INLINED:
        return PALETTE_AQUA;
    case FRAME_COMPILED:
    case FRAME_INTERPRETED:
    case FRAME_C1:
        return PALETTE_GREEN;
    case FRAME_CPP:
        return PALETTE_YELLOW;
    case FRAME_PYTHON:
        return PALETTE_BLUE;
    default:
        break;
    }
    if (is_java_package(name) || has(name, ":::"))
        return PALETTE_GREEN;
    return has(name, "::") ? PALETTE_YELLOW : PALETTE_RED;
}

static enum palette js_palette(struct text_view name, enum frame_kind kind)
{
    if (kind == FRAME_KERNEL)
        return PALETTE_ORANGE;
    if (kind == FRAME_COMPILED)
        return has(name, "/") ? PALETTE_GREEN : PALETTE_AQUA;
    if (has(name, "::"))
        return PALETTE_YELLOW;
    if (has(name, ".js"))
        return PALETTE_GREEN;
    if (has(name, ":"))
        return PALETTE_AQUA;
    return has(name, " ") || name.size == 0 ? PALETTE_GREEN : PALETTE_RED;
}

static enum palette perl_palette(struct text_view name, enum frame_kind kind)
{
    if (kind == FRAME_KERNEL)
        return PALETTE_ORANGE;
    if (has(name, "::"))
        return PALETTE_YELLOW;
    return has(name, "Perl") || has(name, ".pl") ? PALETTE_GREEN : PALETTE_RED;
}

static enum palette python_palette(struct text_view name)
{
    if (has(name, "site-packages/") || has(name, "dist-packages/"))
        return PALETTE_AQUA;
    if (has(name, "/lib/python") || has(name, "<frozen"))
        return PALETTE_YELLOW;
    return has(name, ".py") ? PALETTE_GREEN : PALETTE_RED;
}

static enum palette rust_palette(struct text_view name)
{
    if (text_starts_with(name, TEXT("core::")) || text_starts_with(name, TEXT("std::")) ||
        text_starts_with(name, TEXT("alloc::")))
        return PALETTE_ORANGE;
    return has(name, "::") ? PALETTE_AQUA : PALETTE_YELLOW;
}

static enum palette kind_palette(struct text_view name, enum frame_kind kind)
{
    return kind == FRAME_GROUP ? PALETTE_PURPLE : java_palette(name, kind);
}

static enum palette resolve(enum palette palette, struct text_view name, enum frame_kind kind)
{
    switch (palette) {
    case PALETTE_WAKEUP:
        return PALETTE_AQUA;
    case PALETTE_CHAIN:
        return text_ends_with(name, TEXT("_[w]")) ? PALETTE_AQUA : PALETTE_BLUE;
    case PALETTE_JAVA:
        return java_palette(name, kind);
    case PALETTE_JS:
        return js_palette(name, kind);
    case PALETTE_PERL:
        return perl_palette(name, kind);
    case PALETTE_PYTHON:
        return python_palette(name);
    case PALETTE_RUST:
        return rust_palette(name);
    case PALETTE_KIND:
        return kind_palette(name, kind);
    default:
        return palette;
    }
}

struct color palette_color(int palette, uint64_t seed, struct text_view name, enum frame_kind kind)
{
    double shades[3];
    name_shades(seed, name, shades);
    return plain_color(resolve((enum palette)palette, name, kind), shades);
}

struct color palette_difference(double share, bool negate)
{
    if (negate)
        share = -share;
    share = share > 1 ? 1 : share < -1 ? -1 : share;
    if (fabs(share) < 1e-9)
        return (struct color){230, 230, 230};
    /* The square root keeps small changes visible beside the largest one. */
    double strength = sqrt(fabs(share));
    /* Light enough for black text. */
    uint8_t pale = (uint8_t)(95 + 125 * (1 - strength));
    return share > 0 ? (struct color){255, pale, pale} : (struct color){pale, pale, 255};
}

void palette_background(int palette, struct color background[2])
{
    switch ((enum palette)palette) {
    case PALETTE_MEM:
    case PALETTE_GREEN:
        background[0] = (struct color){0xee, 0xf2, 0xee};
        background[1] = (struct color){0xe0, 0xff, 0xe0};
        break;
    case PALETTE_IO:
    case PALETTE_WAKEUP:
    case PALETTE_CHAIN:
    case PALETTE_BLUE:
        background[0] = (struct color){0xee, 0xee, 0xee};
        background[1] = (struct color){0xe0, 0xe0, 0xff};
        break;
    default:
        background[0] = (struct color){0xee, 0xee, 0xee};
        background[1] = (struct color){0xee, 0xee, 0xb0};
    }
}
