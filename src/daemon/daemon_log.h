/*
 * daemon_log.h
 *		Lines for the server's log.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

/* Writes a line to stderr, which is the server's. */
extern void gsd_log(const char *format,...) __attribute__((format(printf, 1, 2)));

#endif							/* DAEMON_LOG_H */
