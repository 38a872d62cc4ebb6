/*
 * main.c - picks the command, nothing else.
 */
int main(void)
{
    return 0;
}
