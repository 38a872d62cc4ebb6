/*
 * main.c - picks the command, nothing else.
 */
#include "commands/command.h"

int main(int argc, char **argv)
{
    return command_main(argc, argv);
}
