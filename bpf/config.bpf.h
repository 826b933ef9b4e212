/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `load` knows before the programs are verified; constants to the verifier, which drops the
 * branches that they rule out.
 */
#ifndef CGNET_CONFIG_BPF_H
#define CGNET_CONFIG_BPF_H

#include <linux/types.h>

#include "cgnet_abi.h"

const volatile struct cgnet_config config = {};

#endif
