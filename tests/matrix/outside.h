/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef CGNET_MATRIX_OUTSIDE_H
#define CGNET_MATRIX_OUTSIDE_H

#include "../live/paths.h"

/* args end with a NULL. Each returns an exit status. */
int role_serve(char **args);
int role_deputy(char **args);
int role_unix(char **args);
int role_watch(char **args);
int role_hold(char **args);
int role_terminal(char **args);
int role_fds(char **args);
int role_stdin(char **args);
int role_link(char **args);

/* Says so on standard output. */
void ready(void);

/* One plain TCP connect from here. Returns "ok" or the errno's name. */
const char *outside_connect(const char *addr, const char *port);

/* The same for "ADDR PORT", which is taken apart. */
const char *outside_connect_order(char *order);

#endif
