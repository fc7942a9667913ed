// SPDX-License-Identifier: Apache-2.0

// Swift's Glibc module lacks malloc.h.
#if defined(__GLIBC__) || __has_include(<malloc.h>)
#include <malloc.h>
#endif
