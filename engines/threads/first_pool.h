// SPDX-License-Identifier: Apache-2.0
// Finds the pool that all modules of a process share.
#pragma once

#include "engines/threads/threads.h"

namespace octet::engines {

// Of the module that was loaded first among those that offer one, which stays loaded from now on;
// own_pool() where none does.
const PoolFunctions* first_pool();

}  // namespace octet::engines
