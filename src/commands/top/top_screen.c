#include "commands/top/top_screen.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define USUAL_LINES 24
#define USUAL_COLUMNS 80
#define PAGE_ROWS 10
#define SEQUENCE_MS 50

atomic_bool top_stopped;
static atomic_bool size_changed;
static struct termios saved_terminal;
static bool is_open;

static void on_signal(int number)
{
    if (number == SIGWINCH)
        atomic_store_explicit(&size_changed, true, memory_order_relaxed);
    else
        atomic_store_explicit(&top_stopped, true, memory_order_relaxed);
}

void top_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGWINCH, &action, NULL);
}

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        return;
}

bool top_screen_open(void)
{
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &saved_terminal) != 0)
        return false;
    struct termios raw = saved_terminal;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    is_open = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    if (is_open)
        say("\033[?1049h\033[?25l");
    return is_open;
}

void top_screen_close(void)
{
    if (!is_open)
        return;
    is_open = false;
    tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
    say("\033[?25h\033[?1049l");
}

void top_screen_size(size_t *lines, size_t *columns)
{
    struct winsize size = {.ws_row = 0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    *lines = known && size.ws_row > 0 ? size.ws_row : USUAL_LINES;
    *columns = known && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
}

bool top_screen_has_colours(void)
{
    const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");
    return terminal != NULL && strcmp(terminal, "dumb") != 0 && (none == NULL || none[0] == '\0');
}

static void scroll(struct top_choice *choice, int rows)
{
    size_t by = (size_t)abs(rows);
    if (rows < 0)
        choice->first -= choice->first < by ? choice->first : by;
    else if (choice->first + by < TOP_MOST_ROWS)
        choice->first += by;
}

static void on_key(struct top_choice *choice, char key)
{
    switch (key) {
    case 'q':
    case 'Q':
        atomic_store(&top_stopped, true);
        break;
    case '1' ... '4':
        choice->order = (enum top_order)(key - '1');
        choice->first = 0;
        break;
    case 'l':
        choice->lines = !choice->lines;
        choice->first = 0;
        break;
    case 'f':
        choice->full_names = !choice->full_names;
        break;
    case 'p':
    case ' ':
        choice->paused = !choice->paused;
        break;
    case 'r':
        choice->forget = true;
        choice->first = 0;
        break;
    case 'j':
        scroll(choice, 1);
        break;
    case 'k':
        scroll(choice, -1);
        break;
    case '?':
    case 'h':
        choice->help = !choice->help;
        break;
    default:
        break;
    }
}

/* Arrows and page keys come as "ESC [ A" and "ESC [ 5 ~". */
static size_t sequence_size(const char *keys, size_t size)
{
    if (size < 2)
        return 2;
    if (keys[1] != '[')
        return 1;
    return size > 2 && (keys[2] == '5' || keys[2] == '6') ? 4 : 3;
}

static void on_sequence(struct top_choice *choice, const char *keys)
{
    switch (keys[1] == '[' ? keys[2] : 0) {
    case 'A':
        scroll(choice, -1);
        break;
    case 'B':
        scroll(choice, 1);
        break;
    case '5':
    case '6':
        scroll(choice, keys[2] == '5' ? -PAGE_ROWS : PAGE_ROWS);
        break;
    case 'H':
        choice->first = 0;
        break;
    default:
        break;
    }
}

/* Handles keys, complete sequences only; returns how many bytes were used. */
static size_t on_keys(struct top_choice *choice, const char *keys, size_t size)
{
    size_t at = 0;
    while (at < size) {
        if (keys[at] != '\033') {
            on_key(choice, keys[at++]);
            continue;
        }
        size_t needed = sequence_size(keys + at, size - at);
        if (needed > size - at)
            break;
        if (needed > 1)
            on_sequence(choice, keys + at);
        at += needed;
    }
    return at;
}

/* A terminal may send a sequence in pieces: waits briefly for the rest. */
bool top_screen_read_keys(struct top_choice *choice)
{
    char keys[64];
    size_t size = 0;
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    bool changed = atomic_exchange(&size_changed, false);
    while (is_open && poll(&input, 1, size > 0 ? SEQUENCE_MS : 0) > 0 &&
           (input.revents & (POLLIN | POLLHUP)) != 0) {
        ssize_t got = read(STDIN_FILENO, keys + size, sizeof(keys) - size);
        if (got <= 0) { /* the terminal is gone */
            atomic_store(&top_stopped, true);
            return false;
        }
        size += (size_t)got;
        size_t used = on_keys(choice, keys, size);
        size -= used;
        memmove(keys, keys + used, size);
        changed = true;
    }
    return changed;
}
