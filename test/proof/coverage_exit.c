/*
 * coverage_exit.c
 *		Linked to gpusortd by coverage.sh with --wrap=_exit: its counts are written when it ends.
 *
 * It ends by _exit(), in the handler of SIGTERM, which leaves out what exit() does.  What it has counted
 * when it is killed is lost.
 */
extern void __gcov_dump(void);
extern void __real__exit(int status) __attribute__((noreturn));
extern void __wrap__exit(int status) __attribute__((noreturn));

void
__wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
